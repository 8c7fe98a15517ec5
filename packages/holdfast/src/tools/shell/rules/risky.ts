type Risk = {
  /** Letters of short options, alone or in a group such as `-no`. */
  readonly letters?: string
  /** Words with one dash, by their beginning. */
  readonly words?: readonly string[]
  /** Names of long options without their dashes. An abbreviation of one counts too. */
  readonly long?: readonly string[]
}

/** Options with which a program that otherwise only reads writes a file or runs another program. */
const risks: Readonly<Record<string, Risk>> = {
  find: { words: ['-exec', '-ok', '-delete', '-fprint', '-fls'] },
  fd: { letters: 'xX', long: ['exec', 'exec-batch'] },
  git: {
    letters: 'cOC',
    long: [
      ...['output', 'ext-diff', 'textconv', 'upload-pack', 'receive-pack', 'exec', 'open-files-in-pager', 'config-env'],
      ...['exec-path', 'git-dir', 'work-tree', 'output-directory', 'paginate'],
    ],
  },
  rg: { long: ['pre', 'hostname-bin'] },
  sort: { letters: 'oT', long: ['output', 'compress-program', 'temporary-directory'] },
  sed: { letters: 'if', long: ['in-place', 'file'] },
  tar: {
    letters: 'IF',
    long: [
      ...['to-command', 'use-compress-program', 'checkpoint-action', 'rsh-command', 'info-script'],
      ...['new-volume-script', 'rmt-command'],
    ],
  },
  tree: { letters: 'oR', long: ['output'] },
  base64: { letters: 'o', long: ['output'] },
  man: { letters: 'PHC', long: ['pager', 'html', 'config-file'] },
  test: { letters: 'v' },
  '[': { letters: 'v' },
  printf: { letters: 'v' },
  grep: { words: ['-f'], long: ['file'] },
  diff: { long: ['output'], letters: 'l' },
  date: { letters: 's', long: ['set'] },
  less: { letters: 'oOkK', long: ['log-file', 'lesskey-file', 'lesskey-src'] },
  file: { letters: 'Cm', long: ['compile', 'magic-file'] },
  yq: { letters: 'i', long: ['inplace'] },
  npm: { long: ['prefix', 'script-shell', 'node-options', 'globalconfig', 'userconfig'], letters: 'C' },
}

/** Whether a word of the command makes it write files or run other programs. */
export function isRisky([program, ...rest]: readonly [string, ...string[]]): boolean {
  if (program === 'sed' && !isPlainSed(rest)) return true
  const risk = risks[program]
  return risk !== undefined && rest.some((word) => hasRisk(word, risk))
}

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
