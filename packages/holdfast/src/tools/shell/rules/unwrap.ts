import { isReader } from './risky.ts'

/** The words of a command; null for a word that is known only when it runs. */
export type CommandWords = readonly (string | null)[]

/** A command that another one runs: as words, as text for a shell, words that may contain one, or not known. */
export type Inner =
  | { readonly type: 'words' | 'guess'; readonly words: CommandWords }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'unknown' }

/** How many commands are read behind one program. Nobody writes more; a hostile text may. */
const innersMax = 8
/** How many words may be options of a program that gives a text to a shell. */
const optionWordsMax = 40

/** Programs that run the command in their arguments, and how many arguments of their own come before it. */
const runners: Readonly<Record<string, number>> = {
  ...{ env: 0, sudo: 0, doas: 0, xargs: 0, nohup: 0, nice: 0, ionice: 0, chrt: 1, time: 0, command: 0, builtin: 0 },
  ...{ exec: 0, setsid: 0, stdbuf: 0, timeout: 1, flock: 1, chroot: 1, taskset: 1, parallel: 0, strace: 0, ltrace: 0 },
  ...{
    unshare: 0,
    nsenter: 0,
    bwrap: 0,
    firejail: 0,
    busybox: 0,
    toybox: 0,
    watch: 0,
    entr: 0,
    coproc: 0,
    catchsegv: 0,
  },
  ...{
    prlimit: 0,
    setpriv: 0,
    runuser: 0,
    pkexec: 0,
    capsh: 0,
    'dbus-run-session': 0,
    'ssh-agent': 0,
    sem: 0,
    chpst: 0,
  },
  ...{ setarch: 1, linux32: 0, linux64: 0, unbuffer: 0, caffeinate: 0, proot: 0, fakeroot: 0, 'systemd-run': 0 },
}

const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash', 'fish'])
/** Programs that give a whole text to a shell: the option before the text. */
const textOptions: Readonly<Record<string, RegExp>> = {
  su: /^(-\w*c|--command(=|$))/,
  script: /^(-\w*c|--command(=|$))/,
  flock: /^(-\w*c|--command(=|$))/,
  runuser: /^(-\w*c|--command(=|$))/,
  capsh: /^-\w*c/,
  mapfile: /^-\w*C/,
  readarray: /^-\w*C/,
  complete: /^-\w*[CF]/,
  env: /^(-\w*S|--split-string(=|$))/,
}

/** Returns the commands that a command runs. `input` is the text it reads; null if that is not known. */
export function unwrap(words: CommandWords, input: string | null | undefined): readonly Inner[] {
  const [program = null] = words
  if (program === null) return []
  if (shells.has(program)) return ofShell(words, input)
  if (program === 'eval') return [ofTexts(words.slice(1))]
  if (program === 'trap') return [ofText(words[1] ?? null)]
  if (program === 'find') return ofFind(words)
  if (program === 'git') return ofGit(words)
  if (program === 'alias')
    return words.slice(1).flatMap((word) => [ofText(word?.replace(/^[^=]*=/, '') ?? null), unknown])
  if (program === 'hash' || program === 'enable') return words.length > 2 ? [unknown] : []
  if (program === 'ssh') return [ofTexts(words.slice(1)), ...ofRunner(words, 1)]
  const texts = ofOption(words, textOptions[program])
  const own = runners[program]
  // `watch` and `parallel` give their arguments to a shell.
  const joined = program === 'watch' || program === 'parallel' ? [ofTexts(operands(words))] : []
  if (own !== undefined) return [...texts, ...joined, ...ofRunner(words, own)]
  return isReader(program) || harmless.has(program) ? texts : [...texts, ...ofGuess(words)]
}

/** Programs that run nothing of their words, besides those that only read. */
const harmless = new Set([
  ...['rm', 'mv', 'cp', 'mkdir', 'rmdir', 'touch', 'chmod', 'chown', 'ln', 'tee', 'kill', 'export', 'local', 'read'],
  ...['declare', 'unset', 'set', 'shift', 'return', 'exit', 'wait', 'curl', 'wget', 'unlink', 'truncate', 'shred'],
])

const unknown: Inner = { type: 'unknown' }

/** Returns the words of a program that is not known, and the texts among them: a command that it runs may begin anywhere. */
function ofGuess([, ...words]: CommandWords): readonly Inner[] {
  const texts = words.filter((word) => word !== null).map((word) => word.trim().split(/\s+/))
  return [words, ...texts.filter(({ length }) => length > 1)].map((guess) => ({ type: 'guess', words: guess }))
}

/** Returns the commands that git runs: of `bisect run`, `submodule foreach`, `rebase --exec`, and aliases with `!`. */
function ofGit(words: CommandWords): readonly Inner[] {
  const after = (name: string, next: string): CommandWords => {
    const at = words.findIndex((word, index) => word === name && words[index + 1] === next)
    return at < 0 ? [] : words.slice(at + 2)
  }
  const bisected = after('bisect', 'run')
  const foreach = words.includes('submodule') ? words.slice(words.indexOf('foreach') + 1) : []
  const aliases = words.slice(0, optionWordsMax).flatMap((word) => {
    const [, text] = /^(?:-c)?alias\.[^=]*=!(.*)$/s.exec(word ?? '') ?? []
    return text === undefined ? [] : [ofText(text)]
  })
  return [
    ...(bisected.length > 0 ? [{ type: 'words' as const, words: bisected }] : []),
    ...(foreach.length > 0 && words.includes('foreach') ? [ofTexts(operands([null, ...foreach]))] : []),
    ...(words.includes('rebase') ? ofOption(words, /^(-\w*x|--exec(=|$))/) : []),
    ...aliases,
  ]
}

const ofText = (text: string | null): Inner => (text === null ? { type: 'unknown' } : { type: 'text', text })

const ofTexts = (words: CommandWords): Inner =>
  words.includes(null) ? { type: 'unknown' } : { type: 'text', text: words.join(' ') }

const operands = (words: CommandWords): CommandWords => {
  const first = words.findIndex((word, index) => index > 0 && !word?.startsWith('-'))
  return first < 0 ? [] : words.slice(first)
}

/** Returns the text of `sh -c`, or the input of a shell that reads its commands from there. */
function ofShell(words: CommandWords, input: string | null | undefined): readonly Inner[] {
  const rest = words.slice(1)
  const texts: Inner[] = []
  let isCommand = false
  for (const word of rest) {
    if (word === null) return [{ type: 'unknown' }]
    const isOption = /^[-+]./.test(word)
    if (isOption && /^-\w*c/.test(word)) isCommand = true
    if (!isOption) {
      if (isCommand) texts.push({ type: 'text', text: word })
      break
    }
  }
  if (texts.length > 0) return texts
  const hasScript = rest.some((word) => word !== null && !/^[-+]/.test(word))
  if (input !== undefined) return [ofText(input)]
  return hasScript ? [] : [{ type: 'unknown' }]
}

/** Returns the commands after `-exec`, `-execdir`, `-ok` and `-okdir`. */
function ofFind(words: CommandWords): readonly Inner[] {
  const found: Inner[] = []
  for (let index = 1; index < words.length; index++) {
    if (!/^-(exec|ok)(dir)?$/.test(words[index] ?? '')) continue
    const end = words.findIndex((one, at) => at > index && (one === ';' || one === '+'))
    found.push({ type: 'words', words: words.slice(index + 1, end < 0 ? words.length : end) })
    if (end < 0 || found.length === innersMax) return end < 0 ? found : [...found, { type: 'unknown' }]
    index = end
  }
  return found
}

/** Returns the texts that follow an option, or are part of it. */
function ofOption(words: CommandWords, option: RegExp | undefined): readonly Inner[] {
  if (!option) return []
  const texts = words.slice(0, optionWordsMax).flatMap((word, index): readonly Inner[] => {
    if (word === null || index === 0 || !option.test(word)) return []
    const after = word.startsWith('--') ? word.slice(word.indexOf('=') + 1) : word.replace(option, '')
    const isJoined = word.startsWith('--') ? word.includes('=') : after !== ''
    return isJoined ? [ofText(after)] : index + 1 < words.length ? [ofText(words[index + 1] ?? null)] : []
  })
  return words.length > optionWordsMax ? [...texts, { type: 'unknown' }] : texts
}

/**
 * Returns the commands that may begin after a runner's own options and arguments. A word after an option may be the
 * option's value or the command, so both are returned.
 */
function ofRunner(words: CommandWords, own: number): readonly Inner[] {
  const found: Inner[] = []
  let left = own
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? null
    if (word !== null && (/^-/.test(word) || /^\w+\+?=/.test(word))) continue
    if (found.length === innersMax) return [...found, { type: 'unknown' }]
    found.push({ type: 'words', words: words.slice(index) })
    const isValue = index > 1 && /^-/.test(words[index - 1] ?? '')
    const isNumber = word !== null && /^[\d.]+[smhd]?$/.test(word)
    if (isValue || isNumber || word === '{}') {
      if (isNumber && !isValue && left > 0) left--
      continue
    }
    if (left === 0) break
    left--
  }
  return found
}
