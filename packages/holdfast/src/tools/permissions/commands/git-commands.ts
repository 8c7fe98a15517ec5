/** Commands of git that set or run programs with every argument. */
const alwaysRun = new Set([
  ...['difftool', 'mergetool', 'filter-branch', 'hook', 'for-each-repo', 'maintenance', 'send-email', 'instaweb'],
  ...['web--browse', 'help', 'daemon', 'shell', 'http-backend', 'upload-pack', 'receive-pack', 'upload-archive'],
  ...['remote-ext', 'remote-fd', 'p4', 'svn', 'cvsserver', 'gui', 'citool'],
])

/**
 * Commands of git that set or run programs, with the first arguments for which they do not. `git config core.fsmonitor x`
 * lets every later `git status` run x.
 */
const harmlessArguments: ReadonlyMap<string, RegExp> = new Map([
  ['config', /^(?:--get|--get-all|--get-regexp|--get-urlmatch|--list|-l|get|list)$/],
  ['submodule', /^(?:status|summary)$/],
  ['bisect', /^(?:start|good|bad|old|new|skip|reset|log|terms)$/],
])

/**
 * Whether a command of git may set or run programs, by the words after `git` that are known. An option of git itself, such as
 * `-c`, may do so too.
 */
export function mayRunPrograms([command = '', argument = '', ...rest]: readonly string[]): boolean {
  // The short form of --upload-pack, which other commands do not have.
  if (command === 'clone' && [argument, ...rest].some((word) => /^-[a-z0-9]*u/i.test(word))) return true
  if (alwaysRun.has(command) || command.startsWith('-') || command.startsWith('credential')) return true
  const harmless = harmlessArguments.get(command)
  return harmless !== undefined && !harmless.test(argument)
}

/** Commands of git that write no file of the work tree. */
export const readsFiles: ReadonlySet<string> = new Set([
  ...[
    'status',
    'diff',
    'log',
    'show',
    'blame',
    'grep',
    'add',
    'commit',
    'shortlog',
    'describe',
    'rev-list',
    'rev-parse',
  ],
  ...['ls-files', 'ls-tree', 'cat-file', 'check-ignore', 'check-attr', 'name-rev', 'whatchanged'],
])
