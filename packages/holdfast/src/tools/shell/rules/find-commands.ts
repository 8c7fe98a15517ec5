import { forEachChild, parse } from 'unbash'
import { type CommandWords, type Inner, unwrap } from './unwrap.ts'

type Node = Parameters<typeof forEachChild>[0]
type CommandNode = Extract<Node, { type: 'Command' }>
type WordNode = Extract<Node, { type: 'Word' }>
type WordPart = NonNullable<WordNode['parts']>[number]

/** The commands found in a text. */
export type FoundCommands = {
  /** Every command that may run, as words. The program has no folder. A null stands for words known only when it runs. */
  readonly commands: readonly CommandWords[]
  /** Whether the whole text was understood. Otherwise it may run more than these commands. */
  readonly isWhole: boolean
}

const charsMax = 64 * 1024
const depthMax = 8
const commandsMax = 5000

/**
 * Finds every command in a shell text: in lists, pipelines, control flow, functions and substitutions, in the text of
 * `sh -c` and `eval`, and behind programs that run others, such as `sudo`.
 */
export function findCommands(text: string): FoundCommands {
  const commands: CommandWords[] = []
  let isWhole = true

  const read = (source: string, depth: number): void => {
    if (source.length > charsMax || depth > depthMax || commands.length > commandsMax) {
      isWhole = false
      return
    }
    const visit = (node: Node): void => {
      if (node.type === 'Script' && (node.errors?.length ?? 0) > 0) isWhole = false
      if (node.type === 'Command') addAll(commandOf(node), depth)
      forEachChild(node, visit)
    }
    visit(parse(source))
  }

  const addAll = ({ words, input }: ReturnType<typeof commandOf>, depth: number): void => {
    if (words.length === 0) return
    if (commands.length > commandsMax || depth > depthMax) {
      isWhole = false
      return
    }
    const named = [baseName(words[0] ?? null), ...words.slice(1)]
    commands.push(named)
    for (const inner of unwrap(named, input)) addInner(inner, depth + 1)
  }

  const addInner = (inner: Inner, depth: number): void => {
    if (inner.type === 'unknown') isWhole = false
    else if (inner.type === 'text') read(inner.text, depth)
    else addAll({ words: inner.words, input: undefined }, depth)
  }

  read(text, 0)
  return { commands, isWhole }
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
