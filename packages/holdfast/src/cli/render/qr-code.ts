import encodeQr from 'qr'
import type { Output } from '../terminal/output.ts'

const blackOnWhite = (line: string): string => `\u001b[40;97m${line}\u001b[0m`

/** Formats a text as a code that a phone can read, with half blocks: two rows of dots a line. */
export function qrCode(text: string, { paint }: Pick<Output, 'paint'>): string {
  const lines = encodeQr(text, 'ascii', { ecc: 'low' }).trimEnd().split('\n')
  // Light dots are drawn as blocks. Fixed colours keep them light on a light terminal too.
  const isColoured = paint.bold('') !== ''
  return `${lines.map((line) => (isColoured ? blackOnWhite(line) : line)).join('\n')}\n`
}
