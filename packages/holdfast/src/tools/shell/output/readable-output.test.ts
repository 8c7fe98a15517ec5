import { expect, it } from 'vitest'
import { readableOutput } from './readable-output.ts'

it.each([
  ['plain\ntext\n', 'plain\ntext\n'],
  ['\u001b[1;31mred\u001b[0m', 'red'],
  ['10%\r50%\r100% done\n', '100% done\n'],
  ['long line\rnew\n', 'newg line\n'],
  ['long line\r\u001b[Knew\n', 'new\n'],
  ['dos\r\nlines\r\n', 'dos\nlines\n'],
  ['ab\bc', 'ac'],
  ['\u001b]0;title\u0007text', 'text'],
  ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['cut \u001b[3', 'cut '],
  ['\u001b(Btext', 'text'],
])('shows %j as %j', (raw, text) => {
  expect(readableOutput(raw)).toBe(text)
})
