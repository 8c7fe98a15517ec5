import type { ExpandedPiece } from '@holdfast/core/ports'
import { splitArguments } from './split-arguments.ts'

type Template = {
  readonly template: string
  /** The names of its arguments, in order, if its front matter gives them. */
  readonly names?: readonly string[] | undefined
}

/**
 * Puts the arguments of a slash command into its template. One pass: what was put in is never expanded again. In a shell
 * command each value is quoted, so that it is one word of the command whatever it contains.
 */
export function expandTemplate({ template, names = [] }: Template, given: string): readonly ExpandedPiece[] {
  const fill = createFill(template, names, given)
  const pieces: ExpandedPiece[] = []
  let end = 0
  for (const match of template.matchAll(shellCommand)) {
    const [whole, before = '', inline, block] = match
    pieces.push({ type: 'text', text: fill.text(template.slice(end, match.index) + before) })
    const source = whole.slice(before.length)
    pieces.push({ type: 'command', command: fill.command(inline ?? block ?? ''), source })
    end = match.index + whole.length
  }
  pieces.push({ type: 'text', text: fill.text(template.slice(end)) })
  const unused = given.trim()
  if (!fill.isUsed() && unused !== '') pieces.push({ type: 'text', text: `\n\nARGUMENTS: ${unused}` })
  return pieces.filter((piece) => piece.type === 'command' || piece.text !== '')
}

/** A command in backquotes after an exclamation mark, at the start of a line or after a space; or a block of ```!. */
const shellCommand = /(^|[ \t])!`([^`\n]+)`|^```!\n([\s\S]*?)\n```[ \t]*$/gm

/** `$1` is an argument; `$1.50`, `$2,000` and `$3M` are prices, which skills are full of. */
const placeholder = /\\\$|\$ARGUMENTS\[(\d{1,4})\]|\$(\d{1,4})(?!\d|[.,]\d|[KMB]\b)|\$([A-Za-z_]\w*)/g

/** A template that uses `$0` or `$ARGUMENTS[` counts from 0, any other from 1: both kinds are in use. */
const countsFromZero = (template: string): boolean => /\$0(?!\d|[.,]\d)|\$ARGUMENTS\[/.test(template)

function createFill(template: string, names: readonly string[], given: string) {
  const words = splitArguments(given)
  const first = countsFromZero(template) ? 0 : 1
  let isUsed = false

  /** Returns the values that a placeholder stands for; null if it stands for itself. */
  const valuesOf = (index: string | undefined, name: string | undefined): readonly string[] | null => {
    if (name === 'ARGUMENTS') return words
    if (name !== undefined) return names.includes(name) ? [words[names.indexOf(name)] ?? ''] : null
    const word = words[Number(index) - first]
    return word === undefined ? null : [word]
  }
  const fill = (text: string, write: (values: readonly string[], isAll: boolean) => string): string =>
    text.replace(
      placeholder,
      (found, listed: string | undefined, index: string | undefined, name: string | undefined) => {
        if (found === '\\$') return '$'
        const values = valuesOf(listed ?? index, name)
        if (values === null) return found
        isUsed = true
        return write(values, name === 'ARGUMENTS')
      },
    )
  return {
    isUsed: () => isUsed,
    text: (text: string) => fill(text, (values, isAll) => (isAll ? given : (values[0] ?? ''))),
    command: (text: string) => fill(text, (values) => values.map(quoteWord).join(' ')),
  }
}

/** Quotes a word for a POSIX shell. */
const quoteWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
