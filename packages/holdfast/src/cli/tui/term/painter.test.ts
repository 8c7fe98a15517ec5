import xterm from '@xterm/headless'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { line, type StyledLine } from './lines.ts'
import { toRows } from './paint-full.ts'
import { nothingPainted, type Painted, paint } from './painter.ts'

const columns = 20
const rows = 10

/** Paints frames on a terminal as a program would, and returns all its rows. */
async function show(frames: readonly { readonly print: readonly string[]; readonly live: readonly string[] }[]) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1000 })
  let painted: Painted = nothingPainted
  for (const { print, live } of frames) {
    const toLines = (texts: readonly string[]): readonly StyledLine[] => texts.map((text) => line(text))
    const cursor = live.length === 0 ? null : { row: live.length - 1, column: 1 }
    const next = paint(painted, { print: toLines(print), live: toLines(live), cursor, columns }, true)
    painted = next.painted
    await new Promise<void>((resolve) => terminal.write(next.text, resolve))
  }
  const shown = Array.from({ length: terminal.buffer.active.length }, (_, index) =>
    terminal.buffer.active.getLine(index)?.translateToString(true).trimEnd(),
  )
  terminal.dispose()
  return shown.join('\n').trimEnd()
}

describe('the live region', () => {
  it('shows what was printed once, and the last live rows below, whatever was drawn before', async () => {
    const texts = fc.array(fc.stringMatching(/^[a-z]{1,18}$/), { maxLength: 5 })
    const frames = fc.array(fc.record({ print: texts, live: texts }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(frames, async (drawn) => {
        const expected = [...drawn.flatMap(({ print }) => print), ...(drawn.at(-1)?.live ?? [])].join('\n')
        expect(await show(drawn)).toBe(expected.trimEnd())
      }),
      { numRuns: 150 },
    )
  })

  it('writes nothing if nothing changed, and only the changed row otherwise', () => {
    const wanted = { print: [], live: [line('one'), line('two')], cursor: { row: 1, column: 0 }, columns }
    const first = paint(nothingPainted, wanted, true)
    expect(paint(first.painted, wanted, true).text).toBe('')
    const changed = paint(first.painted, { ...wanted, live: [line('one'), line('three')] }, true).text
    expect(changed).toContain('three')
    expect(changed).not.toContain('one')
  })

  it('does not clear after a row that fills the width: the cursor is still on its last column', () => {
    const wanted = { print: [line('p'.repeat(columns))], live: [line('x'.repeat(columns))], cursor: null, columns }
    const first = paint(nothingPainted, wanted, true)
    expect(first.text).not.toContain('\u001b[K')
    const live = [line('y'.repeat(columns))]
    expect(paint(first.painted, { ...wanted, print: [], live }, true).text).not.toContain('\u001b[K')
    expect(toRows([line('x'.repeat(columns)), line('short')], true, columns)).toEqual([
      'x'.repeat(columns),
      'short\u001b[K',
    ])
  })

  it('keeps the last character of a last row that fills the width, and clears what was below', async () => {
    const full = `${'x'.repeat(columns - 1)}!`
    for (const live of [[full], ['short', full]]) {
      const wanted = { print: [], live: live.map((text) => line(text)), cursor: null, columns }
      const { text } = paint(nothingPainted, wanted, true)
      // xterm.js has the cursor after the last column, but tmux and xterm have it on the last one: look at the sequences too.
      const [, after = ''] = text.split('!')
      expect(after.split('\r')[0]).toBe('')
      expect(text).toContain('\u001b[J')
    }
    const before = { print: [], live: ['one', 'two', 'three', 'four'] }
    expect(await show([before, { print: ['said'], live: ['short', full] }])).toBe(`said\nshort\n${full}`)
    expect(await show([before, { print: ['said'], live: [full] }])).toBe(`said\n${full}`)
  })

  it('is one synchronised update', () => {
    const { text } = paint(nothingPainted, { print: [line('a')], live: [line('b')], cursor: null, columns }, true)
    expect(text.startsWith('\u001b[?2026h')).toBe(true)
    expect(text.endsWith('\u001b[?2026l')).toBe(true)
    expect(text).not.toContain('\u001b[?25h')
  })
})
