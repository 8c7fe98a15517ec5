import { findGuard } from '../../files/io/guarded-path.ts'

type Risk = {
  /** Letters of short options, alone or in a group such as `-no`. */
  readonly letters?: string
  /** Words with one dash, by their beginning. */
  readonly words?: readonly string[]
  /** Names of long options without their dashes. An abbreviation of one counts too. */
  readonly long?: readonly string[]
}

/**
 * Programs that only read, with the options with which they write a file or run another program all the same. A wildcard of
 * a rule covers options of these programs alone: what an option of another one does is not known.
 */
const readers: Readonly<Record<string, Risk>> = {
  ...Object.fromEntries(
    [
      ...['cat', 'ls', 'head', 'tail', 'wc', 'echo', 'pwd', 'cd', 'true', 'false', 'basename', 'dirname', 'realpath'],
      ...['readlink', 'stat', 'du', 'df', 'cut', 'tr', 'nl', 'tac', 'rev', 'fold', 'expand', 'paste', 'join', 'column'],
      ...['cmp', 'comm', 'od', 'hexdump', 'strings', 'seq', 'sleep', 'which', 'type', 'id', 'whoami', 'uname', 'ps'],
      ...['md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'cksum', 'sum', 'nproc', 'jq', 'numfmt', 'tsort', 'pgrep'],
    ].map((name) => [name, {}]),
  ),
  find: { words: ['-exec', '-ok', '-delete', '-fprint', '-fls', '-files0-from'] },
  fd: { letters: 'xX', long: ['exec', 'exec-batch'] },
  git: {
    letters: 'cOC',
    long: [
      ...['output', 'ext-diff', 'textconv', 'upload-pack', 'receive-pack', 'exec', 'open-files-in-pager', 'config-env'],
      ...['exec-path', 'git-dir', 'work-tree', 'output-directory', 'paginate', 'edit', 'edit-description', 'template'],
    ],
  },
  rg: { letters: 'z', long: ['pre', 'hostname-bin', 'search-zip'] },
  sort: { letters: 'oT', long: ['output', 'compress-program', 'temporary-directory'] },
  sed: { letters: 'if', long: ['in-place', 'file'] },
  tree: { letters: 'oR', long: ['output'] },
  base64: { letters: 'o', long: ['output'] },
  test: { letters: 'v' },
  '[': { letters: 'v' },
  printf: { letters: 'v' },
  grep: { words: ['-f'], long: ['file'] },
  egrep: { words: ['-f'], long: ['file'] },
  fgrep: { words: ['-f'], long: ['file'] },
  diff: { long: ['output', 'paginate'], letters: 'l' },
  date: { letters: 's', long: ['set'] },
  file: { letters: 'Cm', long: ['compile', 'magic-file'] },
}

/** Whether a program only reads what its words name. */
export const isReader = (program: string): boolean => Object.hasOwn(readers, program)

/** Programs that run other programs or a program text, or write files whose names are in another file. */
const unbounded = new Set([
  ...['bash', 'sh', 'dash', 'zsh', 'ksh', 'fish', 'env', 'xargs', 'sudo', 'doas', 'su', 'eval', 'exec', 'source', '.'],
  ...['node', 'deno', 'bun', 'perl', 'ruby', 'php', 'lua', 'awk', 'gawk', 'mawk', 'npx', 'pnpx', 'bunx', 'uvx', 'pipx'],
  ...['ssh', 'docker', 'podman', 'make', 'gmake', 'ninja', 'command', 'builtin', 'nohup', 'timeout', 'nice', 'setsid'],
  ...['watch', 'parallel', 'script', 'gdb', 'vi', 'vim', 'ed', 'expect', 'tclsh', 'chroot', 'unshare', 'nsenter'],
  ...['bwrap', 'systemd-run', 'at', 'crontab', 'osascript', 'pwsh', 'strace', 'busybox', 'trap', 'flock', 'stdbuf'],
  ...['ionice', 'alias', 'hash', 'enable', 'complete', 'mapfile', 'prlimit', 'setpriv', 'runuser', 'capsh', 'pkexec'],
  ...['tar', 'bsdtar', 'cpio', 'unzip', '7z', 'rsync', 'patch', 'dd', 'ln', 'less', 'more', 'man', 'set', 'export'],
])

/** Whether a program can run any other, so that a wildcard after it would allow everything. */
export const runsAnything = (program: string): boolean =>
  unbounded.has(program) || /^(python|pypy)[\d.]*$/.test(program)

/**
 * Whether it is not certain that words which a wildcard covers are harmless. Of a program that only reads, they may be names
 * and all options but some. Of any other program they may be plain names: no option, no setting such as `SHELL=x`, and no
 * file that decides what other programs run.
 */
export function isRisky([program, ...covered]: readonly [string, ...string[]]): boolean {
  if (covered.length === 0) return false
  if (runsAnything(program)) return true
  const risk = isReader(program) ? readers[program] : undefined
  if (risk === undefined) return covered.some((word) => !isPlainName(word))
  if (program === 'sed' && !isPlainSed(covered)) return true
  return covered.some((word) => hasRisk(word, risk) || word.includes('::')) // git runs programs for addresses such as ext::sh
}

const isPlainName = (word: string): boolean => !/^[-+@]|=|::/.test(word) && findGuard(word) === null

function hasRisk(word: string, { letters = '', words = [], long = [] }: Risk): boolean {
  if (words.some((one) => word.startsWith(one))) return true
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=', 1)
    // Programs take an abbreviation of a long option.
    return name !== '' && long.some((one) => one.startsWith(name))
  }
  return /^-./.test(word) && [...letters].some((letter) => word.includes(letter))
}

/** Whether the script of `sed` only selects and replaces: its commands `e` and `w` run programs and write files. */
function isPlainSed(words: readonly string[]): boolean {
  const scripts = words.filter((_, index) => /^(-\w*e|--expression$)/.test(words[index - 1] ?? ''))
  const joined = words.filter((word) => /^(-\w*e.+|--expr\w*=)/.test(word))
  if (joined.length > 0) return false
  const first = words.find((word) => !word.startsWith('-'))
  return (scripts.length > 0 ? scripts : [first ?? '']).every((script) => plainScript.test(script))
}

const address = String.raw`(?:(?:\d+|\$|/[^/\\\n]*/)(?:,(?:\d+|\$|/[^/\\\n]*/))?)?`
const plainScript = new RegExp(
  String.raw`^(?:${address}[pdq=]?(?:;|$))+$|^${address}s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI\d]*$`,
)
