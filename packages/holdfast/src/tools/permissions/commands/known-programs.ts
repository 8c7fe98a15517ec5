/** Some options of a program. */
export type OptionNames = {
  /** Letters of short options, alone or in a group such as `-no`. */
  readonly letters?: string
  /** Words with one dash, by their beginning. */
  readonly words?: readonly string[]
  /** Names of long options without their dashes. An abbreviation of one counts too. */
  readonly long?: readonly string[]
}

/** A program that runs the command in its arguments. */
type Runner = {
  /** How many arguments of its own come before the command. */
  readonly own: number
  /** Whether it gives the arguments to a shell. */
  readonly isText?: true
  /** Whether it adds words from its input to the command. */
  readonly isFed?: true
}

/** What the permission rules know of a program. */
export type KnownProgram = {
  /**
   * Set if its options are known: those with which it writes a file, runs a program, follows links or reads the names of files
   * from a file. A wildcard covers all others.
   */
  readonly knownOptions?: OptionNames
  /** It can run programs or write any file, so a wildcard after it would allow too much. */
  readonly isUnbounded?: true
  /** The commands that it runs. Absent: not known, any of its words may begin one. */
  readonly runs?:
    | 'nothing'
    | 'names'
    | 'test'
    | 'compgen'
    | 'shell'
    | 'eval'
    | 'trap'
    | 'alias'
    | 'hash'
    | 'find'
    | 'git'
    | 'ssh'
    | Runner
  /** The option before a text that it gives to a shell. */
  readonly textOption?: RegExp
  /** How many names a wildcard may be used with: it writes what further ones name. */
  readonly operandsMax?: number
  /** How many words a rule with a wildcard must name, because they choose what the program does. */
  readonly namedWords?: number
}

// Programs take an abbreviation of a long option.
const textOption = /^(-\w*c|--co[a-z]*(=|$))/
const reader: KnownProgram = { knownOptions: {}, runs: 'nothing' }
const writer: KnownProgram = { runs: 'nothing' }
const unbounded: KnownProgram = { isUnbounded: true }
const runner: KnownProgram = { isUnbounded: true, runs: { own: 0 } }
const runnerOfSecond: KnownProgram = { isUnbounded: true, runs: { own: 1 } }

const rows: readonly (readonly [names: string, program: KnownProgram])[] = [
  ['cat head tail echo pwd cd true false basename dirname realpath readlink stat df cut tr nl tac rev', reader],
  ['fold expand paste join column cmp comm od hexdump seq sleep which type id whoami uname ps', reader],
  ['sum nproc numfmt tsort pgrep', reader],
  ['jq', { ...reader, knownOptions: { letters: 'fL', long: ['from-file', 'library-path'] } }],
  ['md5sum sha1sum sha256sum sha512sum cksum', { ...reader, knownOptions: { letters: 'c', long: ['check'] } }],
  ['ls', { ...reader, knownOptions: { letters: 'HL', long: ['dereference', 'dereference-command-line'] } }],
  ['du', { ...reader, knownOptions: { letters: 'DHL', long: ['dereference', 'dereference-args', 'files0-from'] } }],
  ['wc', { ...reader, knownOptions: { long: ['files0-from'] } }],
  ['strings', { ...reader, knownOptions: { words: ['@'] } }],
  ['uniq xxd', { ...reader, operandsMax: 1, knownOptions: {} }],
  ['test [ printf', { knownOptions: { letters: 'vR' }, runs: 'test' }],
  ['grep egrep fgrep', { ...reader, knownOptions: { letters: 'fR', long: ['file', 'dereference-recursive'] } }],
  ['rg', { ...reader, knownOptions: { letters: 'zL', long: ['pre', 'hostname-bin', 'search-zip', 'follow'] } }],
  [
    'sort',
    {
      ...reader,
      knownOptions: { letters: 'oT', long: ['output', 'compress-program', 'temporary-directory', 'files0-from'] },
    },
  ],
  ['sed', { ...reader, knownOptions: { letters: 'if', long: ['in-place', 'file'] } }],
  ['tree', { ...reader, knownOptions: { letters: 'oRl', long: ['output'] } }],
  ['base64', { ...reader, knownOptions: { letters: 'o', long: ['output'] } }],
  ['diff', { ...reader, knownOptions: { letters: 'lr', long: ['output', 'paginate', 'recursive'] } }],
  ['date', { ...reader, knownOptions: { letters: 's', long: ['set'] } }],
  ['file', { ...reader, knownOptions: { letters: 'Cmf', long: ['compile', 'magic-file', 'files-from'] } }],
  ['fd', { knownOptions: { letters: 'xXL', long: ['exec', 'exec-batch', 'follow'] } }],
  [
    'find',
    {
      knownOptions: { words: ['-exec', '-ok', '-delete', '-fprint', '-fls', '-files0-from', '-L', '-H', '-follow'] },
      runs: 'find',
    },
  ],
  [
    'git',
    {
      knownOptions: {
        letters: 'cOC',
        words: ['-o', '-x'],
        long: [
          ...['output', 'ext-diff', 'textconv', 'upload-pack', 'receive-pack', 'exec', 'open-files-in-pager'],
          ...['config-env', 'exec-path', 'git-dir', 'work-tree', 'output-directory', 'paginate', 'edit'],
          ...['edit-description', 'template', 'config', 'unsafe-paths'],
        ],
      },
      runs: 'git',
      namedWords: 2,
    },
  ],
  ['npm pnpm yarn cargo go kubectl', { namedWords: 2 }],

  ['rm mv cp mkdir rmdir touch chmod chown tee kill shift return exit', writer],
  ['local read declare unset wait readonly typeset getopts', { runs: 'names' }],
  ['curl wget unlink truncate shred', writer],
  ['ln set export', { ...writer, isUnbounded: true }],

  ['sh bash dash zsh ksh mksh ash rbash', { ...unbounded, runs: 'shell' }],
  ['fish', { ...unbounded, runs: 'shell', textOption: /^(-\w*C|--init[a-z-]*(=|$))/ }],
  ['eval', { ...unbounded, runs: 'eval' }],
  ['let', { ...unbounded, runs: 'names' }],
  ['compgen', { ...unbounded, runs: 'compgen', textOption: /^-\w*[CF]/ }],
  ['trap', { ...unbounded, runs: 'trap' }],
  ['alias', { ...unbounded, runs: 'alias' }],
  ['hash enable', { ...unbounded, runs: 'hash' }],
  ['ssh', { ...unbounded, runs: 'ssh' }],

  ['sudo doas nohup nice ionice time command builtin exec setsid stdbuf strace ltrace unshare nsenter', runner],
  ['bwrap firejail busybox toybox entr coproc catchsegv prlimit setpriv pkexec dbus-run-session ssh-agent', runner],
  ['sem chpst linux32 linux64 unbuffer caffeinate proot fakeroot systemd-run', runner],
  ['timeout chrt chroot taskset setarch', runnerOfSecond],
  ['watch', { ...unbounded, runs: { own: 0, isText: true } }],
  ['parallel', { ...unbounded, runs: { own: 0, isText: true, isFed: true } }],
  ['xargs', { ...unbounded, runs: { own: 0, isFed: true } }],
  ['env', { ...runner, textOption: /^(-\w*S|--s[a-z-]*(=|$))/ }],
  ['flock', { ...runnerOfSecond, textOption }],
  ['runuser', { ...runner, textOption }],
  ['capsh', { ...runner, textOption: /^-\w*c/ }],

  ['su script', { ...unbounded, textOption }],
  ['mapfile readarray', { ...unbounded, textOption: /^-\w*C/ }],
  ['complete', { ...unbounded, textOption: /^-\w*[CF]/ }],
  ['source .', { ...unbounded, runs: 'shell' }],
  ['python pypy node deno bun perl ruby php lua awk gawk mawk tclsh osascript pwsh expect', unbounded],
  ['npx pnpx bunx uvx pipx docker podman make gmake ninja gdb vi vim ed less more man at crontab', unbounded],
  ['tar bsdtar cpio unzip 7z rsync patch dd', unbounded],
  ['sqlite3 psql mysql gh tsx ts-node java nvim emacs just', unbounded],
]

const programs = new Map(rows.flatMap(([names, program]) => names.split(' ').map((name) => [name, program] as const)))

/** Returns what is known of a program, by its name without a folder. */
export const programOf = (name: string): KnownProgram =>
  programs.get(name.replace(/^(python|pypy)[\d.]+$/, '$1')) ?? notKnown

const notKnown: KnownProgram = {}
