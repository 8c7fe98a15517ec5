import { Lexer, type MarkedOptions, type MarkedToken, type Token, type Tokens, type TokensList } from 'marked'

/** A run of text within a block. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly inner: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly inner: readonly Inline[] }

/** A block of text. Holds no HTML, and only http and https links. */
export type Block =
  | { readonly type: 'paragraph'; readonly inner: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly inner: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'list'; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly type: 'rule' }

/** A cell of a table: its text, and how the column is aligned. */
export type Cell = { readonly align: 'left' | 'center' | 'right' | null; readonly inner: readonly Inline[] }

/** A longer text is shown as it is. */
const markdownCharsMax = 100_000
/** The work on a quote, list or item grows with the square of its lines. A text with a longer one is shown as it is. */
const quoteLinesMax = 2000
const listItemsMax = 5000
const itemLinesMax = 1000
const blockNestingMax = 8
const inlineNestingMax = 8
/** The work of matching delimiters grows with their square. Once this much is done, the rest of the text stays plain. */
const inlineWorkMax = 1_000_000

/** marked's lexer, bounded: it would overflow the stack on deep nesting and take minutes for unmatched delimiters. */
class BoundedLexer extends Lexer {
  #blockDepth = 0
  #inlineDepth = 0
  #inlineWork: number

  constructor(options: MarkedOptions, inlineWork = 0) {
    super(options)
    this.#inlineWork = inlineWork
  }

  /** The work done so far, including that of the text before. */
  get inlineWork(): number {
    return this.#inlineWork
  }

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(src: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    if (this.#blockDepth >= blockNestingMax) return plainTokens(src, tokens)
    this.#blockDepth++
    super.blockTokens(src, tokens, isClipped)
    this.#blockDepth--
    return tokens
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const work = this.#inlineWork + (src.match(/[*_~[\]<`!&@:]/g)?.length ?? 0) ** 2 + addressWork(src)
    if (this.#inlineDepth >= inlineNestingMax || work > inlineWorkMax) return plainTokens(src, tokens)
    this.#inlineWork = work
    this.#inlineDepth++
    super.inlineTokens(src, tokens)
    this.#inlineDepth--
    return tokens
  }
}

const addressChar = /[\w.!#$%&'*+/=?^`{|}~-]/

/** Returns the work of looking for e-mail addresses: marked tries every start of the characters before an `@`. */
function addressWork(text: string): number {
  let work = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (addressChar.test(text[start - 1] ?? ' ')) start--
    work += (at - start) ** 2 / 100
  }
  return work
}

function plainTokens(text: string, tokens: Token[]): Token[] {
  if (text !== '') tokens.push({ type: 'text', raw: text, text })
  return tokens
}

/** Parses markdown. Any text is valid: raw HTML is shown as text, and an open code fence runs to the end. */
export const parseMarkdown = (text: string): readonly Block[] => lex(withLineFeeds(text)).flatMap(toBlocks)

/**
 * Creates a parser for one growing text. It parses only the end again: a block can no longer change once a blank line
 * and two blocks follow it, unless the text has link definitions. Blocks that did not change are the same objects.
 */
export function createStreamingParser(): (text: string) => readonly Block[] {
  let settled: Settled = nothingSettled
  return (text) => {
    const source = withLineFeeds(text)
    const canSettle = !isTooLarge(source) && !source.includes(']:')
    if (!canSettle || !source.startsWith(settled.text)) settled = nothingSettled
    const rest = source.slice(settled.text.length)
    if (!canSettle) return lex(rest).flatMap(toBlocks)
    const tokens = new BoundedLexer({ gfm: true }, settled.inlineWork).lex(rest)
    const open = tokens.slice(indexOfOpen(tokens))
    settled = settle(settled, tokens.slice(0, tokens.length - open.length))
    return [...settled.blocks, ...open.flatMap(toBlocks)]
  }
}

/** The start of a growing text, with its blocks and the work that they took. */
type Settled = { readonly text: string; readonly blocks: readonly Block[]; readonly inlineWork: number }

const nothingSettled: Settled = { text: '', blocks: [], inlineWork: 0 }

function settle(settled: Settled, tokens: readonly Token[]): Settled {
  if (tokens.length === 0) return settled
  const text = tokens.map(({ raw }) => raw).join('')
  const lexer = new BoundedLexer({ gfm: true }, settled.inlineWork) // lexes this part alone, to measure its work
  const blocks = lexer.lex(text).flatMap(toBlocks)
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

const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

const lex = (source: string): readonly Token[] =>
  isTooLarge(source) ? plainTokens(source, []) : new BoundedLexer({ gfm: true }).lex(source)

/** Returns whether a text, or one quote or list in it, is too large to parse in bounded time. */
function isTooLarge(source: string): boolean {
  if (source.length > markdownCharsMax) return true
  if (source.length < 2 * quoteLinesMax) return false
  const prose = source.replace(/^(```|~~~).*\n[\s\S]*?^\1/gm, '')
  // A quote or list ends at a blank line before a line that is neither indented nor marked.
  return prose.split(/\n[ \t]*\n(?=[^\s>*+\-\d])/).some((part) => {
    if (/^[ \t]*([-*+] +|\d+[.)] +)*>/m.test(part)) return countOf(part, /\n/g) > quoteLinesMax
    const [, ...items] = part.split(/^[ \t]*(?:[-*+]|\d+[.)])/m)
    return items.length > listItemsMax || items.some((item) => countOf(item, /\n/g) > itemLinesMax)
  })
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Returns the block of a token, or none for blank lines and link definitions. */
function toBlocks(token: Token): readonly Block[] {
  const one = token as Exclude<MarkedToken, Tokens.Tag> // no extension adds other tokens
  switch (one.type) {
    case 'space':
    case 'def':
      return []
    case 'heading':
      return [{ type: 'heading', level: one.depth, inner: toInlines(one.tokens) }]
    case 'code':
      return [{ type: 'code', language: one.lang?.match(/^\S+/)?.[0] ?? '', text: one.text }]
    case 'blockquote':
      return [{ type: 'quote', blocks: one.tokens.flatMap(toBlocks) }]
    case 'list': {
      const items = one.items.map(({ tokens }) => toItem(tokens))
      return [{ type: 'list', start: one.ordered ? Number(one.start) : null, items }]
    }
    case 'table': {
      const toCell = ({ align, tokens }: Tokens.TableCell): Cell => ({ align, inner: toInlines(tokens) })
      return [{ type: 'table', head: one.header.map(toCell), rows: one.rows.map((row) => row.map(toCell)) }]
    }
    case 'hr':
      return [{ type: 'rule' }]
    case 'paragraph':
      return [{ type: 'paragraph', inner: toInlines(one.tokens) }]
    case 'text':
      return [{ type: 'paragraph', inner: one.tokens ? toInlines(one.tokens) : [textOf(one.text)] }]
    default:
      return [{ type: 'paragraph', inner: [textOf(one.raw.trimEnd())] }]
  }
}

/** Returns the blocks of a list item; a checkbox becomes the first character of its text. */
function toItem(tokens: readonly Token[]): readonly Block[] {
  const [first, ...rest] = tokens
  if (first?.type !== 'checkbox') return tokens.flatMap(toBlocks)
  const box = textOf(first['checked'] === true ? '☑ ' : '☐ ')
  const [head, ...others] = rest.flatMap(toBlocks)
  if (head?.type !== 'paragraph') return [{ type: 'paragraph', inner: [box] }, ...(head ? [head] : []), ...others]
  return [{ ...head, inner: join([box, ...head.inner]) }, ...others]
}

const toInlines = (tokens: readonly Token[] = []): readonly Inline[] => join(tokens.flatMap(toInline))

function toInline(token: Token): readonly Inline[] {
  const one = token as MarkedToken // no extension adds other tokens
  switch (one.type) {
    case 'strong':
      return [{ type: 'strong', inner: toInlines(one.tokens) }]
    case 'em':
      return [{ type: 'emphasis', inner: toInlines(one.tokens) }]
    case 'del':
      return [{ type: 'struck', inner: toInlines(one.tokens) }]
    case 'codespan':
      return [{ type: 'code', text: one.text }]
    case 'br':
      return [textOf('\n')]
    case 'link':
      return toLink(one, toInlines(one.tokens))
    case 'image':
      return toLink(one, [textOf(one.text || one.href)]) // never loaded, only linked
    case 'checkbox':
      return [textOf(one.checked ? '☑ ' : '☐ ')]
    case 'escape':
      return [textOf(one.text)]
    case 'text':
      return one.tokens ? toInlines(one.tokens) : [textOf(decodeEntities(one.text))]
    default:
      return [textOf(one.raw)]
  }
}

/** Returns a link to a web page; any other link is shown as it was written. */
function toLink({ href, raw }: Tokens.Link | Tokens.Image, inner: readonly Inline[]): readonly Inline[] {
  const safe = safeHref(decodeEntities(href))
  return safe === null || inner.length === 0 ? [textOf(raw)] : [{ type: 'link', href: safe, inner }]
}

/** Returns an http or https address; null for scripts, data and addresses relative to this page. */
export function safeHref(href: string): string | null {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) return null
  return new URL(href).href
}

const textOf = (text: string): Inline => ({ type: 'text', text })

/** Joins neighbouring texts into one. */
function join(inlines: readonly Inline[]): readonly Inline[] {
  const joined: Inline[] = []
  for (const one of inlines) {
    const last = joined.at(-1)
    if (one.type === 'text' && last?.type === 'text') joined[joined.length - 1] = textOf(last.text + one.text)
    else joined.push(one)
  }
  return joined
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  larr: '←',
  rarr: '→',
  times: '×',
}

/** Decodes numeric and the most common named character references; others stay as they are. */
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10)
    const isScalar = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isScalar ? String.fromCodePoint(code) : '\ufffd'
  })
