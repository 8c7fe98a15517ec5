/** What comments begin and end with, in most languages. */
const commentStart = /^(?:\/\/+|\/\*+|\*+|#+|--+|<!--|;+|%+|\{\/\*+|"""|''')\s*/
const commentEnd = /\s*(?:\*+\/\}?|-->|"""|''')$/
const dots = /\.{3}|…/
const restWords = /\b(?:rest|existing|remaining|unchanged|same|previous|other|more|omitted|elided|snip)\b/i

/** Whether a line stands for lines that were left out, such as `// ... rest of the code ...`. */
export function isElision(line: string): boolean {
  if (line.length > 200) return false
  const trimmed = line.trim()
  const text = trimmed.replace(commentStart, '').replace(commentEnd, '')
  if (text === '...' || text === '…') return true
  const isMarked = text !== trimmed || trimmed.startsWith('...') || trimmed.startsWith('…') || trimmed.startsWith('[')
  return isMarked && dots.test(text) && restWords.test(text)
}

/** Whether a line is only dots: in some languages a statement, in a diff lines that were left out. */
export const isOnlyDots = (line: string): boolean => ['...', '…'].includes(line.trim())
