import { stripVTControlCharacters } from 'node:util'
import { cellWidth } from '../tui/term/cell-width.ts'

/** Breaks a text at its spaces into lines of at most `width` columns. A longer word has a line of its own. */
export const wrapWords = (text: string, width: number): readonly string[] => wrapParts(text.split(' '), ' ', width)

/** Joins parts that are not broken themselves into lines of at most `width` columns. A longer part has a line of its own. */
export function wrapParts(parts: readonly string[], gap: string, width: number): readonly string[] {
  const broken: string[] = []
  for (const part of parts) {
    const line = broken.at(-1)
    if (line === undefined || shownWidth(line) + gap.length + shownWidth(part) > width) broken.push(part)
    else broken[broken.length - 1] = `${line}${gap}${part}`
  }
  return broken
}

/**
 * Wraps sentences for a terminal at words; as they are if `columns` is null, because then no person reads them as lines. What
 * follows keeps the indent of its line. Not for what would run: a line break there would change its meaning.
 */
export function wrapSentences(text: string, columns: number | null): string {
  if (columns === null) return text
  return text
    .split('\n')
    .flatMap((line) => {
      if (shownWidth(line) <= columns) return [line]
      const [indent = ''] = /^ */.exec(line) ?? []
      return wrapWords(line.slice(indent.length), Math.max(1, columns - indent.length)).map((one) => indent + one)
    })
    .join('\n')
}

/** Wraps a text that arrives in pieces. A word is held back until it is complete, with the spaces before it. */
export function createStreamWrap(width: number) {
  let used = 0
  let spaces = ''
  let word = ''
  const place = (): string => {
    const isBroken = used > 0 && used + spaces.length + shownWidth(word) > width
    const shown = word === '' ? '' : (isBroken ? '\n' : spaces) + word
    if (word !== '') used = (isBroken ? 0 : used + spaces.length) + shownWidth(word)
    ;[spaces, word] = ['', '']
    return shown
  }
  return {
    /** Adds a piece. Returns what can be printed by now. */
    add(text: string): string {
      let shown = ''
      for (const [part] of text.matchAll(/[ \n]|[^ \n]+/g)) {
        if (part !== ' ' && part !== '\n') word += part
        else {
          if (word !== '' || part === '\n') shown += place()
          if (part === ' ') spaces += part
          else [shown, used] = [`${shown}\n`, 0]
        }
      }
      return shown
    },
    /** Returns the rest, and starts anew. */
    end(): string {
      const shown = place()
      used = 0
      return shown
    },
  }
}

/** Returns how many columns a text takes. Colours take no room. */
export const shownWidth = (text: string): number => cellWidth(stripVTControlCharacters(text))
