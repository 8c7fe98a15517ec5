import { type KnownProgram, programOf } from './known-programs.ts'

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

/** Returns the commands that a command runs. `input` is the text it reads; null if that is not known. */
export function unwrap(words: CommandWords, input: string | null | undefined): readonly Inner[] {
  const [program = null, ...rest] = words
  if (program === null) return []
  const [, subcommand] = /^(?:.*\/)?git-([\w-]+)$/.exec(program) ?? []
  if (subcommand !== undefined) return [{ type: 'words', words: ['git', subcommand, ...rest] }]
  const { runs = 'anything', textOption } = programOf(program)
  const texts = ofOption(words, textOption)
  if (typeof runs === 'string') return [...texts, ...unwrappers[runs](words, input)]
  const ofInput = runs.isFed ? ofFed(words) : []
  // `env -S` reads backslashes and variables in its own way: `rm\_x` is `rm x`.
  const isRewritten = program === 'env' && texts.some((one) => one.type === 'text' && /[\\$]/.test(one.text))
  return [
    ...texts,
    ...(isRewritten ? [unknown] : []),
    ...(runs.isText ? [ofTexts(operands(words))] : []),
    ...ofRunner(words, runs.own),
    ...ofInput,
    ...ofVariables(words),
  ]
}

/** The options of `xargs` and `parallel` whose value is the next word. */
const fedValueOptions =
  /^(-[0oprtx]*[adEIJLnPRSs]|--(arg-file|delimiter|max-args|max-procs|max-chars|process-slot-var))$/

/** Returns the command of `xargs` with words from its input at its end, and in the place of `{}` or of what `-I` names. */
function ofFed(words: CommandWords): readonly Inner[] {
  const replaced = new Set(['{}'])
  let first = 1
  while (words[first]?.startsWith('-')) {
    const [option = '', next] = [words[first] ?? '', words[first + 1]]
    const isAlone = fedValueOptions.test(option)
    const name = isAlone && /[IJ]$/.test(option) ? next : /^(?:-[0oprtx]*[IiJ]|--replace=)(.+)$/s.exec(option)?.[1]
    if (name) replaced.add(name)
    first += isAlone ? 2 : 1
  }
  const command = words.slice(first).map((word) => (word !== null && replaced.has(word) ? null : word))
  // Without a command `parallel` runs the lines of its input; a word after an option may be the option's value.
  const isInput = words[0] === 'parallel' && !words.some((word, at) => at > 0 && isOperand(word, words[at - 1]))
  if (isInput || command[0]?.startsWith(':::')) return [unknown]
  return command.length === 0 ? [] : [{ type: 'words', words: [...command, null] }]
}

const isOperand = (word: string | null, before: string | null = null): boolean =>
  word === null || !(/^-/.test(word) || /^-/.test(before ?? '') || word.startsWith(':::'))

const unknown: Inner = { type: 'unknown' }

type Unwrap = (words: CommandWords, input: string | null | undefined) => readonly Inner[]

const unwrappers: Readonly<Record<Extract<KnownProgram['runs'], string> | 'anything', Unwrap>> = {
  nothing: () => [],
  names: ofNames,
  anything: ofGuess,
  shell: ofShell,
  eval: ([, ...texts]) => [ofTexts(texts)],
  test: (words) =>
    ofNames(words.filter((word, at) => at === 0 || /^-\w*[vR]/.test(`${words[at - 1]}`) || /^-v./.test(`${word}`))),
  compgen: ofNames,
  trap: (words) => [ofText(operands(words)[0] ?? null)],
  alias: ([, ...settings]) => settings.flatMap((word) => [ofText(word?.replace(/^[^=]*=/, '') ?? null), unknown]),
  hash: ({ length }) => (length > 2 ? [unknown] : []),
  find: ofFind,
  git: ofGit,
  ssh: (words) => [ofTexts(words.slice(1)), ...ofRunner(words, 1)],
}

/** Returns the words of a program that is not known, and the texts among them: a command that it runs may begin anywhere. */
function ofGuess([, ...words]: CommandWords): readonly Inner[] {
  const texts = words.filter((word) => word !== null).map((word) => word.trim().split(/\s+/))
  return [words, ...texts.filter(({ length }) => length > 1)].map((guess) => ({ type: 'guess', words: guess }))
}

/** The options of git itself whose value is the next word. */
const gitValueOptions = /^(-C|-c|--(git-dir|work-tree|namespace|super-prefix|config-env|attr-source|exec-path))$/

/** Returns the command without the options of git itself, so that a rule for `git push` sees `git -C . push` too. */
function withoutGitOptions([git = null, ...words]: CommandWords): readonly Inner[] {
  let first = 0
  while (words[first]?.startsWith('-')) first += gitValueOptions.test(words[first] ?? '') ? 2 : 1
  return first === 0 || first >= words.length ? [] : [{ type: 'words', words: [git, ...words.slice(first)] }]
}

/**
 * Returns the commands that git runs: its own without its options; those of `bisect run`, `submodule foreach`, `rebase
 * --exec`, `difftool -x`, `filter-branch` and `grep -O`; and those that settings and aliases name.
 */
function ofGit(words: CommandWords): readonly Inner[] {
  const after = (name: string, next: string): CommandWords => {
    const at = words.findIndex((word, index) => word === name && words[index + 1] === next)
    return at < 0 ? [] : words.slice(at + 2)
  }
  const bisected = after('bisect', 'run')
  const foreach = words.includes('submodule') ? words.slice(words.indexOf('foreach') + 1) : []
  const aliases = words.slice(0, optionWordsMax).flatMap((word) => {
    const [, isProgram, text] = /^(?:-c)?alias\.[^=]*=(!?)(.*)$/s.exec(word ?? '') ?? []
    return text === undefined ? [] : [ofText(isProgram === '!' ? text : `git ${text}`)]
  })
  return [
    ...withoutGitOptions(words),
    ...(bisected.length > 0 ? [{ type: 'words' as const, words: bisected }] : []),
    ...(foreach.length > 0 && words.includes('foreach') ? [ofTexts(operands([null, ...foreach]))] : []),
    ...(words.includes('rebase') ? ofOption(words, /^(-\w*x|--exec?(=|$))/) : []),
    ...(words.includes('difftool') ? ofOption(words, /^(-x|--ext[a-z]*(=|$))/) : []),
    ...(words.includes('filter-branch') ? ofOption(words, /^--[a-z]+-filter(=|$)/) : []),
    ...(words.includes('grep') ? ofOption(words, /^(-O(?=.)|--op[a-z-]*=)/) : []),
    ...(words.includes('config') ? configTexts(words) : []),
    ...settingTexts(words),
    ...aliases,
  ]
}

/** The names of settings whose values git gives to a shell, such as `core.pager`. */
const programName = String.raw`[\w-]+\.(?:\S*\.)?(?:\w*(?:pager|editor|command|cmd|helper|program|driver|external|fsmonitor|textconv|clean|smudge|process))`
const joinedSetting = new RegExp(`^(?:-c)?${programName}=(.+)$`, 'is')
const settingName = new RegExp(`^${programName}$`, 'i')

/** Returns the values of settings that git gives to a shell, as in `-c core.pager=x`. */
const settingTexts = (words: CommandWords): readonly Inner[] =>
  words.slice(0, optionWordsMax).flatMap((word) => {
    const [, value] = joinedSetting.exec(word ?? '') ?? []
    return value === undefined ? [] : [ofText(value)]
  })

/** Returns the values that `git config` sets for later commands, as in `git config alias.x '!rm y'`. */
const configTexts = (words: CommandWords): readonly Inner[] =>
  words.slice(0, optionWordsMax).flatMap((word, index): readonly Inner[] => {
    const value = words[index + 1]
    if (!word || value === undefined) return []
    if (settingName.test(word)) return [ofText(value)]
    if (!/^alias\./i.test(word)) return []
    return [ofText(value?.startsWith('!') ? value.slice(1) : value === null ? null : `git ${value}`)]
  })

/** Returns the commands that the variables before a command, or among its words, may make programs run. */
const ofVariables = (words: CommandWords): readonly Inner[] =>
  words.slice(0, optionWordsMax).flatMap((word) => {
    const [, name, value = ''] = /^(\w+)\+?=(.*)$/s.exec(word ?? '') ?? []
    return name === undefined ? [] : ofVariable(name, value)
  })

/** Returns the commands that a variable may make programs run. Those in one of any other name are a guess. */
export function ofVariable(name: string, value: string): readonly Inner[] {
  const inIndex: readonly Inner[] = hasSubstitution(value) ? [ofText(`: ${value}`)] : []
  if (programVariables.test(name)) return [ofText(value), ...inIndex]
  const words = value.trim().split(/[\s;&|()]+/)
  return words.length > 1 ? [...inIndex, { type: 'guess', words }] : inIndex
}

/** Variables whose values programs give to a shell. */
const programVariables =
  /(?:EDITOR|VISUAL|PAGER|_COMMAND|_RSH|ASKPASS|BROWSER|EXTERNAL_DIFF|LESSOPEN|LESSCLOSE)$|^GIT_SSH$|^GIT_CONFIG_VALUE_\d+$/

/**
 * Returns the commands in the words of a command that evaluates them as names or numbers: the shell runs what is in an index,
 * also if the word was quoted, as in `let 'a[$(id)]'`.
 */
function ofNames([, ...words]: CommandWords): readonly Inner[] {
  return words
    .slice(0, optionWordsMax)
    .flatMap((word) => (word !== null && hasSubstitution(word) ? [ofText(`: ${word}`), unknown] : []))
}

const hasSubstitution = (text: string): boolean => /\$[({[]|`|[<>]\(/.test(text)

const ofText = (text: string | null): Inner => (text === null ? unknown : { type: 'text', text })

const ofTexts = (words: CommandWords): Inner =>
  words.includes(null) ? unknown : { type: 'text', text: words.join(' ') }

const operands = (words: CommandWords): CommandWords => {
  const first = words.findIndex((word, index) => index > 0 && !word?.startsWith('-'))
  return first < 0 ? [] : words.slice(first)
}

/** Returns the text of `sh -c`, or the input of a shell that reads its commands from there. */
function ofShell(words: CommandWords, input: string | null | undefined): readonly Inner[] {
  const rest = words.slice(1)
  const texts: Inner[] = []
  let isCommand = false
  /** How many of the next words are values of options, as `pipefail` in `-euo pipefail`. */
  let values = 0
  for (const word of rest) {
    if (word === null) return [unknown]
    if (values > 0) {
      values--
      continue
    }
    const isOption = /^[-+]./.test(word)
    if (isOption && /^-\w*c/.test(word)) isCommand = true
    if (isOption) values = countValues(word)
    else {
      if (isCommand) texts.push({ type: 'text', text: word })
      break
    }
  }
  if (texts.length > 0) return texts
  const hasScript = rest.some((word) => word !== null && !/^[-+]/.test(word))
  if (input !== undefined) return [ofText(input)]
  return hasScript ? [] : [unknown]
}

/** Returns how many words after an option of a shell are its values. */
const countValues = (option: string): number =>
  option.startsWith('--') ? Number(/^--(rcfile|init-file)$/.test(option)) : (option.match(/[oO]/g)?.length ?? 0)

/** Returns the commands after `-exec`, `-execdir`, `-ok` and `-okdir`. */
function ofFind(words: CommandWords): readonly Inner[] {
  const found: Inner[] = []
  for (let index = 1; index < words.length; index++) {
    if (!/^-(exec|ok)(dir)?$/.test(words[index] ?? '')) continue
    const end = words.findIndex((one, at) => at > index && (one === ';' || one === '+'))
    const command = words.slice(index + 1, end < 0 ? words.length : end)
    found.push({ type: 'words', words: command.map((word) => (word === '{}' ? null : word)) })
    if (end < 0 || found.length === innersMax) return end < 0 ? found : [...found, unknown]
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
  return words.length > optionWordsMax ? [...texts, unknown] : texts
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
    if (found.length === innersMax) return [...found, unknown]
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
