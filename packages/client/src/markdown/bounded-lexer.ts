import { Lexer, type Token, type TokensList } from 'marked'
import { markdownOptions } from './extensions.ts'

const blockNestingMax = 8
const inlineNestingMax = 8
/** The work of matching delimiters grows with their square. Once this much is done, the rest of the text stays plain. */
const inlineWorkMax = 1_000_000

/** marked's lexer, bounded: it would overflow the stack on deep nesting and take minutes for unmatched delimiters. */
export class BoundedLexer extends Lexer {
  #blockDepth = 0
  #inlineDepth = 0
  #inlineWork: number

  constructor(inlineWork = 0) {
    super(markdownOptions)
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
    // A raw tag that is never closed, such as <a> or <code>, ends with its block.
    if (this.#inlineDepth === 0) Object.assign(this.state, { inLink: false, inRawBlock: false })
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

/** Adds a text without markup. */
export function plainTokens(text: string, tokens: Token[]): Token[] {
  if (text !== '') tokens.push({ type: 'text', raw: text, text })
  return tokens
}
