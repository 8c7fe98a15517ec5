import type { CommandSpec } from '../args/command-spec.ts'

/** A word that could come next. */
export type NextWord = { readonly word: string; readonly about: string }

/** What could come next: known words, or a kind of name that has to be looked up. */
export type ShellCompletion =
  | {
      readonly type: 'words'
      readonly words: readonly NextWord[] /** Whether a session may come too. */
      readonly orSession?: true
    }
  | { readonly type: 'sessions' | 'trashed' | 'models' | 'providers' | 'tools' | 'rules' | 'settings' | 'files' }
  /** The values of a setting. */
  | { readonly type: 'values'; readonly setting: string }
  /** The branches of a session. */
  | { readonly type: 'branches'; readonly session: string }
  | { readonly type: 'nothing' }

const nothing: ShellCompletion = { type: 'nothing' }
const words = (all: readonly NextWord[]) => ({ type: 'words', words: all }) as const satisfies ShellCompletion

/** What can be typed: the commands, those that `tell` sends, and the arguments of the program without a command. */
export type Vocabulary = {
  readonly specs: { readonly [name: string]: CommandSpec }
  readonly tellCommands: readonly NextWord[]
  /** The terminal UI, and whether a first word is one of its arguments. */
  readonly terminal: CommandSpec
  readonly isTerminalArgument: (first: string) => boolean
}

const otherCommands: readonly NextWord[] = [
  { word: 'help', about: 'print the help of a command' },
  { word: 'version', about: 'print the version' },
]

/** Returns what could complete the last of the typed words, by the specs of the commands. */
export function complete(typed: readonly string[], vocabulary: Vocabulary): ShellCompletion {
  const { specs, tellCommands, terminal, isTerminalArgument } = vocabulary
  const [name = '', ...args] = typed
  const commands = Object.entries(specs).map(([word, { about }]) => ({ word, about }))
  if (args.length === 0 && name.startsWith('-'))
    return words([...flagWords(terminal), { word: '--version', about: 'print the version' }])
  if (args.length === 0) {
    const known = words([...commands, ...otherCommands])
    // The names of all sessions would hide the commands before something is typed.
    return name === '' ? known : { ...known, orSession: true }
  }
  if (name === 'help') return words(commands)
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  if (spec) return completeArgs(name, args, spec, tellCommands)
  return isTerminalArgument(name) ? completeArgs('', typed, terminal, tellCommands) : nothing
}

function completeArgs(
  name: string,
  args: readonly string[],
  spec: CommandSpec,
  tellCommands: readonly NextWord[],
): ShellCompletion {
  const { positionals, flag, current } = readArgs(args, spec)
  if (flag !== null) return flagValues(spec, flag, positionals)
  if (current.startsWith('-')) return words(flagWords(spec))
  return positionalValues(name, spec, positionals, tellCommands)
}

type ReadArgs = {
  /** The positionals before the word that is completed. */
  readonly positionals: readonly string[]
  /** The flag whose value is completed; null for none. */
  readonly flag: string | null
  readonly current: string
}

function readArgs(args: readonly string[], { flags }: CommandSpec): ReadArgs {
  const positionals: string[] = []
  let flag: string | null = null
  for (const word of args.slice(0, -1)) {
    if (flag !== null) flag = null
    else if (word.startsWith('-')) {
      const named = Object.entries(flags).find(([long, { short }]) => word === `--${long}` || word === `-${short}`)
      flag = named && named[1].value !== undefined ? named[0] : null
    } else positionals.push(word)
  }
  return { positionals, flag, current: args.at(-1) ?? '' }
}

const flagWords = ({ flags }: CommandSpec): readonly NextWord[] => [
  ...Object.entries(flags).flatMap(([flag, { about, short }]) => [
    ...(short === undefined ? [] : [{ word: `-${short}`, about }]),
    { word: `--${flag}`, about },
  ]),
  { word: '--help', about: 'print the help' },
]

function flagValues({ flags }: CommandSpec, flag: string, [session]: readonly string[]): ShellCompletion {
  const { choices, value = '' } = flags[flag] ?? {}
  if (choices) return words(choices.map((word) => ({ word, about: '' })))
  if (value === 'session') return { type: 'sessions' }
  if (value === 'model') return { type: 'models' }
  if (value === 'branch') return session === undefined ? nothing : { type: 'branches', session }
  return ['dir', 'file'].includes(value) ? { type: 'files' } : nothing
}

const takesKey = (action: string | undefined): boolean => ['get', 'set', 'unset'].includes(action ?? '')

/** Returns what follows `permissions`: an action, a verdict and a tool of a new rule, or the id of a rule. */
function ruleValues(what: string, [action]: readonly string[]): ShellCompletion {
  if (what.includes('/')) return words(what.split('/').map((word) => ({ word, about: '' })))
  if (action === 'remove') return what === 'verdict' ? { type: 'rules' } : nothing
  if (action !== 'add') return nothing
  if (what === 'verdict') return words(verdicts)
  return what === 'tool' ? { type: 'tools' } : nothing
}

const verdicts: readonly NextWord[] = [
  { word: 'allow', about: 'run without asking' },
  { word: 'ask', about: 'ask each time' },
  { word: 'deny', about: 'refuse' },
]

function positionalValues(
  name: string,
  { positionals = [] }: CommandSpec,
  before: readonly string[],
  tellCommands: readonly NextWord[],
): ShellCompletion {
  const kinds = positionals.filter((one) => one !== '[more…]') // more of the one before it
  const wanted = kinds[Math.min(before.length, kinds.length - 1)]
  const isOver = before.length >= positionals.length && !positionals.at(-1)?.endsWith('…]')
  if (wanted === undefined || isOver) return nothing
  const what = wanted.slice(1, -1).replace('…', '')
  if (what === 'session') return name === 'trash' ? { type: 'trashed' } : { type: 'sessions' }
  if (what === 'branch') return { type: 'branches', session: before[0] ?? '' }
  if (what === 'provider') return { type: 'providers' }
  if (what === 'command' && name === 'tell') return words(tellCommands)
  if (name === 'config' && what === 'key') return takesKey(before[0]) ? { type: 'settings' } : nothing
  if (name === 'config' && what === 'value')
    return before[0] === 'set' ? { type: 'values', setting: before[1] ?? '' } : nothing
  if (name === 'permissions') return ruleValues(what, before)
  if (what.includes('/')) return words(what.split('/').map((word) => ({ word, about: '' })))
  return /file|directory|path|dir|from|to/.test(what) ? { type: 'files' } : nothing
}
