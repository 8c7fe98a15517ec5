/** An escape sequence of a terminal, whole or cut off at the end, or a single control character that moves the cursor. */
const sequence =
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[PX^_][^\u001b]*(?:\u001b\\|$)|\u001b\[[0-?]*[ -/]*$|\u001b[ -/]*[0-~]?|[\r\b]/g

/**
 * Returns what a terminal would show of this output at the end: without colours and other escape sequences, and with only
 * the last state of a line that was written over, such as a progress bar.
 */
export function readableOutput(text: string): string {
  if (!/[\u001b\r\b]/.test(text)) return text
  return text.split('\n').map(readableLine).join('\n')
}

function readableLine(line: string): string {
  let shown = ''
  let column = 0
  let last = 0
  const write = (text: string) => {
    shown = shown.slice(0, column).padEnd(column) + text + shown.slice(column + text.length)
    column += text.length
  }
  for (const found of line.matchAll(sequence)) {
    write(line.slice(last, found.index))
    last = found.index + found[0].length
    if (found[0] === '\r') column = 0
    else if (found[0] === '\b') column = Math.max(0, column - 1)
    else if (found[2] === 'K') shown = erased(shown, column, found[1])
  }
  write(line.slice(last))
  return shown.toWellFormed()
}

/** Erases part of a line: from the cursor on by default. */
function erased(shown: string, column: number, part: string | undefined): string {
  if (part === '2') return ''
  return part === '1' ? ' '.repeat(Math.min(column, shown.length)) + shown.slice(column) : shown.slice(0, column)
}
