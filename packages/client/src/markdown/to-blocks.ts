import type { MarkedToken, Token, Tokens } from 'marked'
import type { Block, Cell, Footnote, Inline, Item } from './blocks.ts'
import type { FootnoteRefToken, FootnoteToken, MathToken } from './extensions.ts'

/** The tokens of marked, without those that no block begins with, and of our extensions. */
type BlockToken = Exclude<MarkedToken, Tokens.Tag> | FootnoteToken | (MathToken & { readonly type: 'mathBlock' })
type InlineToken = MarkedToken | FootnoteRefToken | (MathToken & { readonly type: 'math' })

/** Turns tokens into blocks. Notes are numbered in the order in which the text refers to them. */
export function createConverter(labels: Iterable<string>) {
  const numbers = new Map<string, number | null>([...labels].map((label) => [label, null]))
  let numbered = 0

  const numberOf = (label: string): number | null => {
    const known = numbers.get(label)
    if (known !== null) return known ?? null
    numbered++
    numbers.set(label, numbered)
    return numbered
  }

  /** Returns the blocks of a token: none for blank lines and link definitions. */
  function toBlocks(token: Token): readonly Block[] {
    const one = token as BlockToken // the only tokens that there are
    switch (one.type) {
      case 'space':
      case 'def':
        return []
      case 'heading':
        return [{ type: 'heading', level: one.depth, inner: toInlines(one.tokens) }]
      case 'code':
        return [toCode(one)]
      case 'blockquote':
        return [{ type: 'quote', blocks: one.tokens.flatMap(toBlocks) }]
      case 'list':
        return [{ type: 'list', start: one.ordered ? Number(one.start) : null, items: one.items.map(toItem) }]
      case 'table':
        return [{ type: 'table', head: one.header.map(toCell), rows: one.rows.map((row) => row.map(toCell)) }]
      case 'hr':
        return [{ type: 'rule' }]
      case 'mathBlock':
        return [{ type: 'math', tex: one.tex }]
      case 'footnote': // within another block
        return one.tokens.flatMap(toBlocks)
      case 'paragraph':
        return [{ type: 'paragraph', inner: toInlines(one.tokens) }]
      case 'text':
        return [{ type: 'paragraph', inner: one.tokens ? toInlines(one.tokens) : [textOf(one.text)] }]
      default:
        return [{ type: 'paragraph', inner: [textOf(one.raw.trimEnd())] }]
    }
  }

  const toCell = ({ align, tokens }: Tokens.TableCell): Cell => ({ align, inner: toInlines(tokens) })

  const toItem = ({ tokens }: Tokens.ListItem): Item => {
    const [first] = tokens
    const checked = first?.type === 'checkbox' ? first['checked'] === true : null
    return { checked, blocks: (checked === null ? tokens : tokens.slice(1)).flatMap(toBlocks) }
  }

  const toInlines = (tokens: readonly Token[] = []): readonly Inline[] => join(tokens.flatMap(toInline))

  function toInline(token: Token): readonly Inline[] {
    const one = token as InlineToken // the only tokens that there are
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
        return toImage(one)
      case 'math':
        return [{ type: 'math', tex: one.tex, isDisplay: one.isDisplay }]
      case 'footnoteRef': {
        const number = numberOf(one.label)
        return [number === null ? textOf(one.raw) : { type: 'footnote', number }]
      }
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

  /** Returns the notes by number. Notes that nothing refers to come last: their text is not lost. */
  function toFootnotes(notes: ReadonlyMap<string, readonly Token[]>): readonly Footnote[] {
    const referred = () => [...notes.keys()].filter((label) => numbers.get(label) !== null)
    const found = new Map<string, readonly Block[]>()
    // A note may refer to a further one.
    for (let before = -1; before !== found.size; ) {
      before = found.size
      for (const label of referred()) if (!found.has(label)) found.set(label, notes.get(label)?.flatMap(toBlocks) ?? [])
    }
    for (const [label, tokens] of notes) {
      if (found.has(label)) continue
      numberOf(label)
      found.set(label, tokens.flatMap(toBlocks))
    }
    return [...found]
      .map(([label, blocks]) => ({ number: numberOf(label) ?? 0, blocks }))
      .toSorted((left, right) => left.number - right.number)
  }

  return { toBlocks, toFootnotes }
}

/** A fence is open until a line with as many marks ends it. */
function toCode({ raw, lang, text }: Tokens.Code): Block {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  const lastLine = raw.trimEnd().split('\n').slice(1).at(-1)?.trim() ?? ''
  const isClosed =
    mark === undefined || (lastLine.startsWith(mark) && lastLine === mark.charAt(0).repeat(lastLine.length))
  return { type: 'code', language: lang?.match(/^\S+/)?.[0] ?? '', text, isOpen: !isClosed }
}

/** Returns a link to a web page; any other link is shown as it was written. */
function toLink({ href, raw }: Tokens.Link, inner: readonly Inline[]): readonly Inline[] {
  const safe = safeHref(decodeEntities(href))
  return safe === null || inner.length === 0 ? [textOf(raw)] : [{ type: 'link', href: safe, inner }]
}

/** Pictures in which a browser runs nothing. */
const dataImage = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]+$/

/** Returns a picture of the web or of the text itself; any other is shown as it was written. */
function toImage({ href, raw, text }: Tokens.Image): readonly Inline[] {
  const safe = dataImage.test(href) ? href : safeHref(decodeEntities(href))
  return safe === null ? [textOf(raw)] : [{ type: 'image', href: safe, text: decodeEntities(text) }]
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
