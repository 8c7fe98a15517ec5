import type { Frame } from '@holdfast/protocol'
import { aFrame, aRecord, type EventInput } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPaint, type Output } from '../terminal/output.ts'
import { createRunScreen } from './run-screen.ts'

function paper() {
  const sheets = { out: '', err: '' }
  const output = (sheet: 'out' | 'err'): Output => ({
    isTerminal: false,
    paint: createPaint(false),
    write: async (text) => {
      sheets[sheet] += text
    },
  })
  return { sheets, screen: createRunScreen(output('out'), output('err')) }
}

type Kind = 'text' | 'thinking'
const delta = (part: number, kind: Kind, text: string, step = 5) =>
  aFrame({ type: 'delta', step, part, kind, index: 0, text })
const draft = (text: string) =>
  aFrame({ type: 'draft', step: 5, index: 3, parts: [{ step: 5, part: 1, kind: 'text', text }] })
const recorded = (seq: number, event: EventInput) => aFrame({ type: 'record', record: aRecord(seq, event) })
const said = (seq: number, text: string, type: 'text.said' | 'thinking.said' = 'text.said', step = 5) =>
  recorded(seq, { type, turn: 0, step, text, provider: 'demo' })

async function shown(...frames: readonly Frame[]) {
  const { sheets, screen } = paper()
  for (const one of frames) await screen.show(one)
  await screen.settle()
  return sheets
}

describe('a running turn', () => {
  it('speaks on standard output and thinks on standard error', async () => {
    const sheets = await shown(
      delta(0, 'thinking', 'hm'),
      delta(1, 'text', 'Hello '),
      delta(1, 'text', 'you.'),
      said(6, 'hm', 'thinking.said'),
      said(7, 'Hello you.'),
    )
    expect(sheets).toEqual({ out: 'Hello you.\n', err: 'hm\n' })
  })

  it('tells that the store refuses, and that it no longer does, beside the answer', async () => {
    const storage = (error: { reason: string; message: string } | null) => aFrame({ type: 'storage', error })
    const sheets = await shown(
      delta(1, 'text', 'Hello '),
      storage({ reason: 'disk_full', message: 'The disk is full.' }),
      storage(null),
    )
    expect(sheets).toEqual({ out: 'Hello \n', err: 'The disk is full.\nThe store takes writes again.\n' })
  })

  it('says nothing twice, whichever way it came', async () => {
    expect((await shown(draft('Hello you'), delta(1, 'text', '.'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(delta(1, 'text', 'Hel'), draft('Hello you'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(delta(1, 'text', 'Hello'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
  })

  it('parts the answers of one turn by a blank line', async () => {
    const live = await shown(delta(1, 'text', 'One.'), delta(2, 'text', 'Two.'), said(6, 'One.'), said(7, 'Two.'))
    const late = await shown(said(6, 'One.'), said(7, 'Two.'), said(12, 'Three.', 'text.said', 9))
    expect(live.out).toBe('One.\n\nTwo.\n')
    expect(late.out).toBe('One.\n\nTwo.\n\nThree.\n')
  })

  it('tells of calls on standard error, on lines of their own', async () => {
    const { out, err } = await shown(
      delta(1, 'text', 'I look.'),
      said(6, 'I look.'),
      recorded(7, { type: 'call.requested', turn: 0, step: 5, tool: 'ls', args: { a: '\n' }, provider: 'demo' }),
      recorded(9, { type: 'call.settled', call: 7, durationMs: 3, outcome: { type: 'ok', output: { text: '' } } }),
    )
    expect(out).toBe('I look.\n')
    expect(err).toBe('→ ls {"a":"\\n"}\n✓ ls, 3 ms\n')
  })

  it('lets no model drive the terminal', async () => {
    const { out } = await shown(delta(1, 'text', '\u001b]52;c;eA==\u0007\rx'))
    expect(out).toBe('\\u{1b}]52;c;eA==\\u{7}\\u{d}x\n')
  })
})
