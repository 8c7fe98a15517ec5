import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { cellWidth, cutCells } from './cell-width.ts'

/** A run of text in one style. Its text has no control characters: everything from outside passes `shownText` first. */
export type Span = { readonly text: string; readonly style: string }

/** One row of the screen, or one line that is not wrapped yet. */
export type StyledLine = readonly Span[]

/** The styles by what they mean, as the parameters of SGR. Only the 16 colours of the terminal's own theme are used. */
export const styles = {
  none: '',
  dim: '2',
  bold: '1',
  italic: '3',
  underline: '4',
  struck: '9',
  inverse: '7',
  accent: '36',
  good: '32',
  bad: '31',
  warn: '33',
  special: '35',
  link: '4;34',
} as const

/** Joins two styles. */
export const both = (one: string, other: string): string =>
  one === '' ? other : other === '' ? one : `${one};${other}`

export const span = (text: string, style = ''): Span => ({ text, style })
export const line = (text: string, style = ''): StyledLine => (text === '' ? [] : [span(text, style)])
export const emptyLine: StyledLine = []

/** Escapes text from outside for a line of the screen. StyledLine feeds and tabs are shown as escapes. */
export const shownLine = (text: string): string => escapeLine(text)

/** Escapes text from outside. StyledLine feeds stay; a tab becomes spaces. */
export const shownText = (text: string): string =>
  escapeHidden(text.includes('\r') ? text.replaceAll('\r\n', '\n') : text).replaceAll('\t', '    ')

const joining =
  '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f' +
  [
    'Arabic',
    'Syriac',
    'Mongolian',
    'Devanagari',
    'Bengali',
    'Gurmukhi',
    'Gujarati',
    'Oriya',
    'Tamil',
    'Telugu',
    'Kannada',
  ]
    .concat(['Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'])
    .map((script) => `\\p{Script=${script}}`)
    .join('')
/** Joiners between characters that need them: Persian, Hindi and many emoji are not readable without. */
const joiner = new RegExp(`(?<=[${joining}])[\\u200c\\u200d](?=[${joining}])`, 'u')

/** Escapes what people and models say. Joiners of scripts and emoji stay. Commands and names are shown with `shownText`. */
export function shownProse(text: string): string {
  const [first = '', ...rest] = /[\u200c\u200d]/.test(text) ? text.split(joiner) : [text]
  let shown = shownText(first)
  let at = first.length
  for (const piece of rest) {
    shown += text.charAt(at) + shownText(piece)
    at += 1 + piece.length
  }
  return shown
}

/** Returns how many columns a line takes. */
export function lineWidth(one: StyledLine): number {
  let width = 0
  for (const { text } of one) width += cellWidth(text)
  return width
}

/** Cuts a line to `width` columns; a cut one ends in `…`. */
export function cutLine(one: StyledLine, width: number): StyledLine {
  if (lineWidth(one) <= width) return one
  const kept: Span[] = []
  let left = Math.max(0, width - 1)
  for (const { text, style } of one) {
    const part = cutCells(text, left)
    if (part !== '') kept.push({ text: part, style })
    left -= cellWidth(part)
    if (part.length < text.length) break
  }
  return width > 0 ? [...kept, span('…', styles.dim)] : kept
}

/** Returns a line with its right part at the right edge, as far as both fit. */
export function justify(left: StyledLine, right: StyledLine, width: number): StyledLine {
  const gap = width - lineWidth(left) - lineWidth(right)
  return gap < 2 ? cutLine(left, width) : [...left, span(' '.repeat(gap)), ...right]
}

/** Adds a style to every span of a line. */
export const restyled = (one: StyledLine, style: string): StyledLine =>
  one.map(({ text, style: own }) => ({ text, style: both(own, style) }))

const colours = /^(?:3\d|4\d|9\d|10\d)$/

/** Returns the line as text with its styles as escape sequences. Without colours only bold, dim and such remain. */
export function toAnsi(one: StyledLine, isColoured: boolean): string {
  let text = ''
  for (const { text: shown, style } of one) {
    const used = isColoured ? style : withoutColour(style)
    text += used === '' ? shown : `\u001b[${used}m${shown}\u001b[0m`
  }
  return text
}

const withoutColour = (style: string): string =>
  style
    .split(';')
    .filter((one) => !colours.test(one))
    .join(';')
