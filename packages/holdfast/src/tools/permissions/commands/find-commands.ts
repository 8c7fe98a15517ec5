import { forEachChild, parse } from 'unbash'
import { type CommandWords, type Inner, ofVariable, unwrap } from './nested-commands.ts'

type Node = Parameters<typeof forEachChild>[0]
type CommandNode = Extract<Node, { type: 'Command' }>
type AssignmentNode = Extract<CommandNode['prefix'][number], { type: 'Assignment' }>
type WordNode = Extract<Node, { type: 'Word' }>
type WordPart = NonNullable<WordNode['parts']>[number]

/** The commands found in a text. */
export type FoundCommands = {
  /** Every command that may run, as words. The program has no folder. A null stands for words known only when it runs. */
  readonly commands: readonly CommandWords[]
  /** Words after programs that are not known: a command may begin with any of them. */
  readonly guesses: readonly CommandWords[]
  /** Whether the whole text was understood. Otherwise it may run more than these commands. */
  readonly isWhole: boolean
}

const evaluates: ReadonlySet<string> = new Set(['TestCommand', 'ArithmeticCommand', 'ArithmeticExpansion'])
const quotedSubstitution = /'[^']*(?:\$[({]|`)|\\[$`]/

const charsMax = 16 * 1024
/** How deep substitutions, and texts for other shells, are read. */
const depthMax = 6
/** How many words are read: a hostile text can run one command in another in many ways. */
const wordsMax = 20_000
/** How many substitutions and groups a text may open: the parser reads nested ones again and again. */
const openingsMax = 60
const separatorsMax = 1000

/** Whether parsing a text would take long. */
export const isIntricate = (text: string): boolean =>
  (text.match(openings)?.length ?? 0) > openingsMax || (text.match(/[;&|\n]/g)?.length ?? 0) > separatorsMax

const openings = /\$[({[]|`|[<>(]\(|\b(?:if|case|while|until|for|select|function|coproc)\b|\{|<<|\[\[|\$'|\(\s*\)/g

/**
 * Finds every command in a shell text: in lists, pipelines, control flow, functions and substitutions, in the text of
 * `sh -c` and `eval`, and behind programs that run others, such as `sudo`. The work is bounded.
 */
export function findCommands(text: string): FoundCommands {
  const commands: CommandWords[] = []
  const guesses: CommandWords[] = []
  let isWhole = true
  let words = 0
  let chars = 0

  const read = (source: string, depth: number): void => {
    chars += source.length
    if (chars > charsMax || depth > depthMax || isIntricate(source)) {
      isWhole = false
      return
    }
    const visit = (node: Node, scripts: number): void => {
      if (node.type === 'Script' && (node.errors?.length ?? 0) > 0) isWhole = false
      if (scripts > depthMax) {
        isWhole = false
        return
      }
      if (node.type === 'Command') {
        addAll(commandOf(node), depth)
        for (const one of [...node.prefix, ...node.suffix]) if (one.type === 'Assignment') addVariable(one, depth)
      }
      // `[[ -v 'a[$(id)]' ]]` and `(( … ))` run what is in an index, also if it is quoted.
      if (evaluates.has(node.type) && quotedSubstitution.test(source.slice(node.pos, node.end))) isWhole = false
      forEachChild(node, (child) => visit(child, scripts + (child.type === 'Script' ? 1 : 0)))
    }
    try {
      visit(parse(source), 0)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      isWhole = false // nested too deep for the parser, which calls itself: no count of forms covers all of them
    }
  }

  const addAll = ({ words: found, input }: ReturnType<typeof commandOf>, depth: number): void => {
    if (found.length === 0) return
    words += found.length
    if (words > wordsMax || depth > depthMax) {
      isWhole = false
      return
    }
    const named = [baseName(found[0] ?? null), ...found.slice(1)]
    commands.push(named)
    for (const inner of unwrap(named, input)) {
      if (words <= wordsMax) addInner(inner, depth + 1)
      else isWhole = false
    }
  }

  const addVariable = ({ name, value }: AssignmentNode, depth: number): void => {
    const text = value?.type === 'Word' ? known(value) : null
    if (name !== undefined && text) for (const inner of ofVariable(name, text)) addInner(inner, depth + 1)
  }

  const addInner = (inner: Inner, depth: number): void => {
    if (inner.type === 'unknown') isWhole = false
    else if (inner.type === 'text') read(inner.text, depth)
    else if (inner.type === 'guess') {
      words += inner.words.length
      guesses.push(inner.words)
    } else addAll({ words: inner.words, input: undefined }, depth)
  }

  read(text, 0)
  return { commands, guesses, isWhole }
}

/** Returns the words of a command, and the text it gets as its input by `<<` or `<<<`. */
function commandOf({ name, args, redirects }: CommandNode): { words: CommandWords; input: string | null | undefined } {
  const words = name === undefined ? [] : [name, ...args].map((one) => (one.type === 'Word' ? known(one) : one.text))
  let input: string | null | undefined
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') input = (redirect.body.parts ?? []).every(isKnown) ? redirect.body.text : null
    if (redirect.type === 'HereString') input = redirect.target ? known(redirect.target) : null
  }
  return { words, input }
}

/** Returns the text of a word if no expansion can change it. */
const known = (word: WordNode): string | null => ((word.parts ?? []).every(isKnown) ? word.value : null)

function isKnown(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true
    case 'DoubleQuoted':
      return part.parts.every(({ type }) => type === 'Literal')
    default:
      return false
  }
}

const baseName = (program: string | null): string | null =>
  program === null ? null : program.slice(program.lastIndexOf('/') + 1)
