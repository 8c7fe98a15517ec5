import fc from 'fast-check'
import { expect, it } from 'vitest'
import { lineWidth, type StyledLine, toAnsi } from '../term/lines.ts'
import { approvalRows, drawPreview } from './approval.ts'
import { callRows } from './call.ts'
import { diffRows } from './diff.ts'

const plain = (rows: readonly StyledLine[]): readonly string[] =>
  rows.map((row) => row.map(({ text }) => text).join(''))

const words = 'aaaa bbbb cccc dddd eeee ffff gggg'
const hostile = `--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${words} -password = required\n`
const preview = { type: 'diff', path: 'x', diff: hostile } as const
const signed = /^(?:[▌│ ]*)\d+ [-+]/

it('marks the rest of a long line, so that it cannot pass for a line of the diff', () => {
  expect(plain(diffRows(hostile, 38))).toEqual(['  @@ -0,0 +1 @@', `1 +${words} `, '↳  -password = required'])
})

it.each([
  [
    'the card of an approval',
    () =>
      approvalRows({ id: 'a', tool: 'write_file', preview } as never, {
        width: 40,
        rowsMax: 30,
        count: 1,
        keys: 'answer',
        isDriving: true,
      }),
  ],
  ['the view of all of it', () => drawPreview(preview, 38)],
  [
    'the card of a finished call',
    () =>
      callRows(
        {
          kind: 'tool_call',
          call: { tool: 'write_file', args: {}, status: 'complete', durationMs: 5, result: null, preview },
        } as never,
        { width: 42, isOpen: true },
      ),
  ],
])('%s shows one added line, however it is broken', (_, draw) => {
  const rows = draw().map((row) => toAnsi(row, false).replaceAll(/\u001b\[\d+m/g, ''))
  expect(rows.filter((row) => signed.test(row))).toHaveLength(1)
  expect(rows.filter((row) => /↳ {2}-password = required$/.test(row))).toHaveLength(1)
})

it('shows every character of a line, in rows that fit, and one number or sign for a line', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '-', '+', '@', '7', '日', '↳', '👍') })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), fc.integer({ min: 20, max: 40 }), (added, width) => {
      const diff = `@@ -0,0 +1,${added.length} @@\n${added.map((one) => `+${one}\n`).join('')}`
      const [, ...rows] = diffRows(diff, width)
      for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(width)
      const lines: string[] = []
      for (const row of plain(rows)) {
        // Only what is in the first columns says which kind of row it is: nothing from the file gets there.
        if (row.startsWith('↳  ')) lines.push(`${lines.pop()}${row.slice(3)}`)
        else {
          expect(row.slice(0, 3)).toBe(`${lines.length + 1} +`)
          lines.push(row.slice(3))
        }
      }
      expect(lines).toEqual(added)
    }),
  )
})
