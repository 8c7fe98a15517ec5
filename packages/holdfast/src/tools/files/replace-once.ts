import { fault, ok, type Result, refuse } from '@holdfast/protocol'

const placesToldMax = 10

export type Replacement = { readonly oldText: string; readonly newText: string }

/** The text with its one occurrence of `oldText` replaced, or how often and where it stands instead. */
export function replaceOnce(text: string, { oldText, newText }: Replacement): Result<string> {
  const first = text.indexOf(oldText)
  if (first === -1) return refuse(fault('bad_request', `old_text is not found${hintOf(text, oldText)}`))
  const second = text.indexOf(oldText, first + 1) // overlapping counts too: which of the two is meant is as unclear
  if (second === -1) return ok(text.slice(0, first) + newText + text.slice(first + oldText.length))
  const { count, lines } = placesOf(text, oldText)
  const where = `${lines.join(', ')}${count > lines.length ? ', …' : ''}`
  return refuse(
    fault('bad_request', `old_text is found ${count} times, at lines ${where}; give more of what stands around it`),
  )
}

function placesOf(text: string, oldText: string): { readonly count: number; readonly lines: readonly number[] } {
  const lines: number[] = []
  let count = 0
  let line = 1
  let counted = 0
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + 1)) {
    count++
    if (lines.length === placesToldMax) continue
    for (; counted < at; counted++) if (text[counted] === '\n') line++
    lines.push(line)
  }
  return { count, lines }
}

/** The two reasons a model most often misses by. */
function hintOf(text: string, oldText: string): string {
  if (text.includes('\r\n') && oldText.includes('\n') && text.replaceAll('\r\n', '\n').includes(oldText))
    return '; the lines of this file end with \\r\\n, those of old_text with \\n'
  const trimmed = oldText.trim()
  if (trimmed !== '' && trimmed !== oldText && text.includes(trimmed))
    return '; without the blanks around it, it would be found'
  return '; it must be the same character for character'
}
