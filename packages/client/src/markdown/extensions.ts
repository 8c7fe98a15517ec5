import { Marked, type MarkedOptions, type Token, type TokenizerExtension } from 'marked'

/** A token of an extension. */
export type FootnoteToken = { readonly type: 'footnote'; readonly label: string; readonly tokens: Token[] }
export type FootnoteRefToken = { readonly type: 'footnoteRef'; readonly raw: string; readonly label: string }
export type MathToken = { readonly type: 'math' | 'mathBlock'; readonly tex: string; readonly isDisplay: boolean }

const noteHead = /^\[\^([^\s\]]{1,60})\]:[ \t]*/

/** A note: its first line, the lines right after it, and indented lines after blank ones. */
const footnote: TokenizerExtension = {
  name: 'footnote',
  level: 'block',
  start: (src) => startOf(src, /\n\[\^[^\s\]]{1,60}\]:/),
  tokenizer(src) {
    const head = noteHead.exec(src)
    if (!head) return undefined
    const end = endOfNote(src, head[0].length)
    const text = src.slice(head[0].length, end).replace(/\n(\t| {1,4})/g, '\n')
    const raw = src.slice(0, src[end] === '\n' ? end + 1 : end)
    return { type: 'footnote', raw, label: head[1], tokens: this.lexer.blockTokens(text, []) }
  },
}

/** Returns the end of the last line of a note, without its line feed. */
function endOfNote(src: string, from: number): number {
  let end = endOfLine(src, from)
  let isAfterBlank = false
  for (let start = end + 1; start < src.length; ) {
    const stop = endOfLine(src, start)
    const line = src.slice(start, Math.min(stop, start + lineCharsMax))
    const isBlank = line.trim() === ''
    if (!isBlank && (isAfterBlank ? !/^( {2}|\t)/.test(line) : noteHead.test(line))) break
    if (!isBlank) end = stop
    isAfterBlank = isBlank
    start = stop + 1
  }
  return end
}

const endOfLine = (src: string, from: number): number => {
  const end = src.indexOf('\n', from)
  return end === -1 ? src.length : end
}

/** So much of a line says whether it belongs to a note. */
const lineCharsMax = 100

const footnoteRef: TokenizerExtension = {
  name: 'footnoteRef',
  level: 'inline',
  tokenizer(src) {
    const found = /^\[\^([^\s\]]{1,60})\]/.exec(src)
    return found ? { type: 'footnoteRef', raw: found[0], label: found[1] } : undefined
  },
}

/** A formula over whole lines. It holds no blank line, so that a blank line settles the text before it. */
const mathBlock: TokenizerExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (src) => startOf(src, /\n(\$\$|\\\[)/),
  tokenizer(src) {
    const found =
      /^\$\$((?:(?!\$\$|\n[ \t]*\n)[\s\S]){1,2000}?)\$\$[ \t]*(?:\n|$)/.exec(src) ??
      /^\\\[((?:(?!\\\]|\n[ \t]*\n)[\s\S]){1,2000}?)\\\][ \t]*(?:\n|$)/.exec(src)
    return found ? { type: 'mathBlock', raw: found[0], tex: found[1]?.trim(), isDisplay: true } : undefined
  },
}

/** A formula within a line. A price or a shell text is none: no space inside the dollars, and no letter, digit or bracket right after. */
const math: TokenizerExtension = {
  name: 'math',
  level: 'inline',
  start: (src) => src.indexOf('$'), // text ends at the other marks anyway
  tokenizer(src) {
    const display = /^\$\$([^$\n]{1,1000})\$\$/.exec(src) ?? /^\\\[([^\n]{1,1000}?)\\\]/.exec(src)
    const found =
      display ??
      /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,1000})(?<!\s)\$(?![\w${(])/.exec(src) ??
      /^\\\(([^\n]{1,1000}?)\\\)/.exec(src)
    if (!found) return undefined
    return { type: 'math', raw: found[0], tex: found[1]?.trim(), isDisplay: display !== null }
  },
}

/** Looked through for the end of a paragraph. Without a limit, many paragraphs would take time that grows with their square. */
const lookaheadCharsMax = 4000

/** Returns where a line begins that ends a paragraph. */
const startOf = (src: string, line: RegExp): number => {
  const index = src.slice(0, lookaheadCharsMax).search(line)
  return index === -1 ? -1 : index + 1
}

/** GFM with footnotes and formulas. */
export const markdownOptions: MarkedOptions = new Marked({ gfm: true }).use({
  extensions: [footnote, footnoteRef, mathBlock, math],
}).defaults
