import type { CommandWords } from './nested-commands.ts'
import type { IsLinkedOut } from './outside-links.ts'
import type { PlainCommand } from './plain-commands.ts'
import { fitsPieces, fitsPiecesFrom } from './text-pattern.ts'
import { isUnsafeForWildcard } from './wildcard-safety.ts'

/** A pattern word as the texts between its stars; a single text has no star. */
type PatternWord = readonly string[]

/** A parsed command pattern. */
export type CommandPattern = {
  readonly words: readonly PatternWord[]
  /** Whether it ends with `**`, so that any words may follow. */
  readonly isOpen: boolean
}

/** Parses a pattern: words, of which quotes make every character literal; `*` in a word; `**` as the last word. */
export function parsePattern(pattern: string): CommandPattern {
  const words: PatternWord[] = []
  let isOpen = false
  for (const [text] of pattern.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+/g)) {
    isOpen = text === '**'
    const pieces = ['']
    for (const [part] of text.matchAll(/'[^']*'|"[^"]*"|\*+|[^*]/g)) {
      if (part.startsWith('*')) pieces.push('')
      else pieces[pieces.length - 1] += /^(['"]).*\1$/s.test(part) && part.length > 1 ? part.slice(1, -1) : part
    }
    words.push(pieces)
  }
  return { words: isOpen ? words.slice(0, -1) : words, isOpen }
}

/**
 * Whether an allow pattern covers a command. `*` is one word, or a part of one; a last `**` is any further words. What a
 * wildcard covers must stay in the folder, also where links lead, and have no option that writes files or runs programs.
 */
export function allows(
  { words, isOpen }: CommandPattern,
  command: PlainCommand,
  isLinkedOut: IsLinkedOut = () => false,
): boolean {
  if (words.length === 0 || (isOpen ? command.length < words.length : command.length !== words.length)) return false
  const [program = []] = words
  if (program.length !== 1) return false
  const covered: string[] = []
  for (const [index, word] of command.entries()) {
    const pattern = words[index]
    if (pattern && !fitsPieces(pattern, word)) return false
    if (pattern?.length !== 1) covered.push(word)
  }
  return covered.every((word) => isInside(word) && !isLinkedOut(word)) && !isUnsafeForWildcard(command, covered)
}

/** Whether a word names nothing outside the folder: it has no absolute path, and no `..` as a part of one. */
const isInside = (word: string): boolean => !/(?:^|[^\w.]|^-[\w-]*)(?:\/|\.\.(?:\/|$))|\/\.\.(?:\/|$)|^~/.test(word)

/**
 * Whether a deny or ask pattern matches a command: `yes`, `no`, or `maybe` if a word is known only when it runs. `*`
 * matches any text, so that such a rule covers at least what its words say.
 */
export function forbids(pattern: CommandPattern, command: CommandWords): 'yes' | 'no' | 'maybe' {
  const spellings = spellingsOf(pattern)
  const text = command.map((word) => word ?? unknown).join(' ')
  if (spellings.some((pieces) => fitsPieces(pieces, text))) return 'yes'
  const [[beginning = '']] = spellings
  const at = text.indexOf(unknown)
  if (at < 0) return 'no'
  const before = text.slice(0, at)
  return before.startsWith(beginning) || beginning.startsWith(before) ? 'maybe' : 'no'
}

/** Whether a deny or ask pattern matches a command that begins with any of these words and ends with the last. */
export function forbidsWithin(pattern: CommandPattern, words: CommandWords): boolean {
  const text = words.map((word) => word ?? unknown).join(' ')
  const starts: number[] = []
  let at = 0
  for (const word of words) {
    starts.push(at + (word ?? '').lastIndexOf('/') + 1)
    at += (word ?? unknown).length + 1
  }
  return spellingsOf(pattern).some((pieces) => fitsPiecesFrom(pieces, text, starts))
}

/** Returns the pieces of a pattern, and for an open one also those of it with further words. */
function spellingsOf({ words, isOpen }: CommandPattern): readonly [readonly string[], ...(readonly string[])[]] {
  const pieces = joined(words)
  return isOpen ? [pieces, [...pieces.slice(0, -1), `${pieces.at(-1) ?? ''} `, '']] : [pieces]
}

/** A text that no pattern has: only a star matches it. */
const unknown = '\0'

/** Joins the words of a pattern with blanks. The program has no folder, as in the commands that were found. */
function joined(words: readonly PatternWord[]): readonly string[] {
  const pieces: string[] = []
  for (const [index, word] of words.entries()) {
    const [first = '', ...rest] = word
    const named = index === 0 ? first.slice(first.lastIndexOf('/') + 1) : first
    if (index === 0) pieces.push(named, ...rest)
    else pieces.splice(-1, 1, `${pieces.at(-1) ?? ''} ${named}`, ...rest)
  }
  return pieces
}
