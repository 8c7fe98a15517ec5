import type { Token, TokensList } from 'marked'
import type { Block } from './blocks.ts'
import { BoundedLexer, plainTokens } from './bounded-lexer.ts'
import type { FootnoteToken } from './extensions.ts'
import { createPieceSplitter } from './pieces.ts'
import { createConverter } from './to-blocks.ts'

export type { Block, Cell, Footnote, Inline, Item } from './blocks.ts'
export { createPieceSplitter, type PieceSizes } from './pieces.ts'
export { safeHref } from './to-blocks.ts'

/** A longer text, without its code blocks, is parsed in pieces. One that cannot be divided is shown as it is. */
const proseCharsMax = 100_000
/** The work on a quote, list or item grows with the square of its lines. A text with a longer one is shown as it is. */
const quoteLinesMax = 2000
const listItemsMax = 5000
const itemLinesMax = 1000
/** The characters of a paragraph times its lines that may be the second line of a table: marked looks for rows after each. */
const tableWorkMax = 2_000_000

/** Parses markdown. Any text is valid: raw HTML is shown as text, and an open code fence runs to the end. */
export function parseMarkdown(text: string): readonly Block[] {
  const source = withLineFeeds(text)
  const pieces = isLong(source) ? createPieceSplitter()(source) : [source]
  return pieces.flatMap((piece) => parseWhole(piece, nothingParsed).blocks)
}

/**
 * Creates a parser for one growing text. It parses only the end again: a block can no longer change once a blank line
 * and two blocks follow it, unless the text has definitions. Blocks that did not change are the same objects.
 */
export function createStreamingParser(): (text: string) => readonly Block[] {
  const parse = createSettlingParser()
  return (text) => parse(text).blocks
}

/** The blocks of a growing text, and which of them are final. */
export type SettlingBlocks = {
  /** All blocks so far. */
  readonly blocks: readonly Block[]
  /** How many of the first blocks can no longer change. */
  readonly settled: number
  /** The source of those. */
  readonly settledText: string
}

/** Creates the same parser for a screen that cannot take back what it has printed. */
export function createSettlingParser(): (text: string) => SettlingBlocks {
  const split = createPieceSplitter()
  const parsers: ReturnType<typeof createPieceParser>[] = []
  return (text) => {
    const source = withLineFeeds(text)
    const pieces = isLong(source) ? split(source) : [source]
    const parsed = pieces.map((piece, index) => {
      const parse = parsers[index] ?? createPieceParser()
      parsers[index] = parse
      return parse(piece)
    })
    const [last = nothingSettling, ...before] = parsed.toReversed()
    if (before.length === 0) return last
    const blocks = parsed.flatMap((one) => one.blocks)
    // A definition may still change what refers to it, in any piece.
    if (hasDefinition(source)) return { blocks, settled: 0, settledText: '' }
    const settledText = pieces.slice(0, -1).join('') + last.settledText
    return { blocks, settled: blocks.length - last.blocks.length + last.settled, settledText }
  }
}

const nothingSettling: SettlingBlocks = { blocks: [], settled: 0, settledText: '' }

const hasDefinition = (source: string): boolean => source.includes(']:')

/** Creates the parser of one piece of a growing text. */
function createPieceParser(): (source: string) => SettlingBlocks {
  let settled: Settled = nothingSettled
  let whole: Parsed = nothingParsed
  let parsed: { readonly source: string; readonly result: SettlingBlocks } | null = null
  const parse = (source: string): SettlingBlocks => {
    const canSettle = !isTooLarge(source) && !hasDefinition(source)
    if (!canSettle || !source.startsWith(settled.text)) settled = nothingSettled
    if (!canSettle) {
      whole = parseWhole(source, whole)
      return { blocks: whole.blocks, settled: 0, settledText: '' }
    }
    const tokens = new BoundedLexer(settled.inlineWork).lex(source.slice(settled.text.length))
    const open = tokens.slice(indexOfOpen(tokens))
    settled = settle(settled, tokens.slice(0, tokens.length - open.length))
    const blocks = [...settled.blocks, ...open.flatMap(createConverter([]).toBlocks)]
    return { blocks, settled: settled.blocks.length, settledText: settled.text }
  }
  return (source) => {
    if (parsed?.source !== source) parsed = { source, result: parse(source) }
    return parsed.result
  }
}

/** The start of a growing text, with its blocks and the work that they took. */
type Settled = { readonly text: string; readonly blocks: readonly Block[]; readonly inlineWork: number }

const nothingSettled: Settled = { text: '', blocks: [], inlineWork: 0 }

function settle(settled: Settled, tokens: readonly Token[]): Settled {
  if (tokens.length === 0) return settled
  const text = tokens.map(({ raw }) => raw).join('')
  const lexer = new BoundedLexer(settled.inlineWork) // lexes this part alone, to measure its work
  const blocks = lexer.lex(text).flatMap(createConverter([]).toBlocks)
  return { text: settled.text + text, blocks: [...settled.blocks, ...blocks], inlineWork: lexer.inlineWork }
}

/** Returns where the part begins that further text may change: the last two blocks, and those before up to a blank line. */
function indexOfOpen(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex(isBlock)
  let index = tokens.slice(0, Math.max(0, last)).findLastIndex(isBlock)
  while (index > 0 && !endsInBlankLine(tokens[index - 1])) index--
  return Math.max(0, index)
}

const isBlock = ({ type }: Token): boolean => type !== 'space'

const endsInBlankLine = (token: Token | undefined): boolean => /\n[ \t]*\n$/.test(token?.raw ?? '')

/** A text that was parsed as a whole, and the blocks of each of its tokens. */
type Parsed = {
  readonly blocks: readonly Block[]
  readonly parts: readonly { readonly raw: string; readonly blocks: readonly Block[] }[]
  /** What references can refer to. With others, the same token may give other blocks. */
  readonly definitions: string
}

const nothingParsed: Parsed = { blocks: [], parts: [], definitions: '' }

/** Parses a text with its definitions. Takes the blocks of its unchanged start from the parse before. */
function parseWhole(source: string, before: Parsed): Parsed {
  const tokens = lex(source)
  const notes = new Map<string, readonly Token[]>()
  for (const token of tokens) {
    if (!isNote(token)) continue
    if (!notes.has(token.label)) notes.set(token.label, token.tokens)
  }
  const { toBlocks, toFootnotes } = createConverter(notes.keys())
  const definitions = JSON.stringify([tokens.links, [...notes.keys()]])
  let isSame = definitions === before.definitions
  const parts = tokens.map((token, index) => {
    const known = before.parts[index]
    const blocks = isNote(token) ? [] : toBlocks(token) // also numbers the notes
    isSame &&= known?.raw === token.raw
    return isSame && known ? known : { raw: token.raw, blocks }
  })
  const body = parts.flatMap(({ blocks }) => blocks)
  const last: readonly Block[] = notes.size === 0 ? [] : [{ type: 'footnotes', notes: toFootnotes(notes) }]
  return { blocks: [...body, ...last], parts, definitions }
}

// An extension's token has the fields that its tokenizer gives it.
const isNote = (token: Token): token is FootnoteToken & Token => token.type === 'footnote'

const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

const lex = (source: string): Token[] & { readonly links?: TokensList['links'] } =>
  isTooLarge(source) ? plainTokens(source, []) : new BoundedLexer().lex(source)

const proseOf = (source: string): string => source.replace(/^(```|~~~).*\n[\s\S]*?^\1/gm, '')

const isLong = (source: string): boolean => source.length > proseCharsMax && proseOf(source).length > proseCharsMax

/** Returns whether a text, or one quote or list in it, is too large to parse in bounded time. */
function isTooLarge(source: string): boolean {
  if (source.length < 2 * quoteLinesMax) return false
  const prose = proseOf(source)
  if (prose.length > proseCharsMax || tableWorkOf(prose) > tableWorkMax) return true
  // A quote or list ends at a blank line before a line that is neither indented nor marked.
  return prose.split(/\n[ \t]*\n(?=[^\s>*+\-\d])/).some((part) => {
    if (/^[ \t]*([-*+] +|\d+[.)] +)*>/m.test(part)) return countOf(part, /\n/g) > quoteLinesMax
    const [, ...items] = part.split(/^[ \t]*(?:[-*+]|\d+[.)])/m)
    return items.length > listItemsMax || items.some((item) => countOf(item, /\n/g) > itemLinesMax)
  })
}

/** A line like `|-|`, also in quotes and lists. */
const tableMarks = /^[ \t>|:\d.)*+-]+$/gm

function tableWorkOf(prose: string): number {
  const workOf = (paragraph: string) => {
    const lines = paragraph.match(tableMarks) ?? []
    return paragraph.length * lines.filter((line) => line.includes('-') && /[|:]/.test(line)).length
  }
  return prose.split(/\n[ \t>]*\n/).reduce((work, paragraph) => work + workOf(paragraph), 0)
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
