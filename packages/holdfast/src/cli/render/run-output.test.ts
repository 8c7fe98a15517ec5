import { ChildView, type Frame, noUsage } from '@holdfast/protocol'
import { aFrame, aRecord, type EventInput } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createTextOutput } from '../testing/text-output.ts'
import { createRunOutput, type RunResult } from './run-output.ts'

const result = {} as RunResult // text output does not print it

type Kind = 'text' | 'thinking'
const delta = (part: number, kind: Kind, text: string, step = 5) =>
  aFrame({ type: 'delta', step, part, kind, index: 0, text })
const draft = (text: string) =>
  aFrame({ type: 'draft', step: 5, index: 3, parts: [{ step: 5, part: 1, kind: 'text', text }] })
const recorded = (seq: number, event: EventInput) => aFrame({ type: 'record', record: aRecord(seq, event) })
const said = (seq: number, text: string, type: 'text.said' | 'thinking.said' = 'text.said', step = 5) =>
  recorded(seq, { type, turn: 0, step, text, provider: 'demo' })

const aChild = ChildView.parse({
  id: `ses_${'0'.repeat(26)}`,
  parent: `ses_${'1'.repeat(26)}`,
  handle: 'calm-harbor-1',
  call: 7,
  depth: 1,
  agent: 'general',
  task: 'list src',
  model: 'demo/agent',
  status: 'running',
  tool: null,
  usage: noUsage,
  pendingApprovals: [],
  startedAt: '2026-01-01T00:00:00.000Z',
})

const shown = (...frames: readonly Frame[]) => shownAt(false, ...frames)

async function shownAt(isTerminal: boolean, ...frames: readonly Frame[]) {
  const [out, err] = [createTextOutput(), createTextOutput()]
  const output = createRunOutput(false, { out: out.output, err: { ...err.output, isTerminal } })
  for (const one of frames) await output.show(one)
  await output.end(result)
  return { out: out.text(), err: err.text() }
}

describe('the text of a running turn', () => {
  it('goes to standard output, thinking to standard error', async () => {
    const printed = await shown(
      delta(0, 'thinking', 'hm'),
      delta(1, 'text', 'Hello '),
      delta(1, 'text', 'you.'),
      said(6, 'hm', 'thinking.said'),
      said(7, 'Hello you.'),
    )
    expect(printed).toEqual({ out: 'Hello you.\n', err: 'hm\n' })
  })

  it('says that a change outside a boundary is in the file, and how to put it back', async () => {
    const outcome = { type: 'failed' as const, output: { text: '[outside_boundary: line 5]' } }
    const files = [{ path: 'a.ts', change: 'modified' as const, outside: true as const }]
    const settled = recorded(9, { type: 'call.settled', call: 7, outcome, durationMs: 1, files })
    const { err } = await shown(settled)
    const { sessionId } = settled
    expect(err).toContain(
      `The change is in a.ts. To put back what the call changed: holdfast tell ${sessionId} restoreFiles call=7\n`,
    )
  })

  it('has a line when the store refuses writes, and when it accepts them again', async () => {
    const storage = (error: { reason: string; message: string } | null) => aFrame({ type: 'storage', error })
    const printed = await shown(
      delta(1, 'text', 'Hello '),
      storage({ reason: 'disk_full', message: 'The disk is full.' }),
      storage(null),
    )
    expect(printed).toEqual({ out: 'Hello \n', err: 'The disk is full.\nThe store accepts writes again.\n' })
  })

  it('is printed once, whether it comes as draft, delta or record', async () => {
    expect((await shown(draft('Hello you'), delta(1, 'text', '.'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(delta(1, 'text', 'Hel'), draft('Hello you'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(said(7, 'Hello you.'))).out).toBe('Hello you.\n')
    expect((await shown(delta(1, 'text', 'Hello'), said(7, 'Hello you.'))).out).toBe('Hello you.\n')
  })

  it('has a blank line between the answers of a turn', async () => {
    const live = await shown(delta(1, 'text', 'One.'), delta(2, 'text', 'Two.'), said(6, 'One.'), said(7, 'Two.'))
    const late = await shown(said(6, 'One.'), said(7, 'Two.'), said(12, 'Three.', 'text.said', 9))
    expect(live.out).toBe('One.\n\nTwo.\n')
    expect(late.out).toBe('One.\n\nTwo.\n\nThree.\n')
  })

  it('ends its line with the turn, so that what is typed next does not stick to it', async () => {
    const out = createTextOutput()
    const output = createRunOutput(false, { out: out.output, err: createTextOutput().output })
    await output.show(delta(1, 'text', '1, 2, 3.'))
    expect(out.text()).toBe('1, 2, 3.')
    await output.show(recorded(8, { type: 'turn.ended', turn: 0, reason: 'done' }))
    expect(out.text()).toBe('1, 2, 3.\n')
  })

  it('is not torn by lines about subagents, which have the task once', async () => {
    const child = (status: 'running' | 'waiting' | 'completed', tool: string | null = null) => {
      const view = { ...aChild, status, tool }
      return aFrame({ type: 'child', child: view.id, view })
    }
    const { out, err } = await shown(
      child('running'),
      child('running', 'grep'),
      delta(1, 'text', 'One '),
      child('running'),
      child('running', 'find'),
      delta(1, 'text', 'answer.'),
      child('completed'),
      said(7, 'One answer.'),
    )
    expect(out).toBe('One answer.\n')
    expect(err.split('\n')).toEqual([
      '  subagent calm-harbor-1 (general) works: list src',
      ...['runs grep', 'runs find', 'completed'].map((does) => `  subagent calm-harbor-1 (general) ${does}`),
      '',
    ])
  })

  it('has calls on standard error, on lines of their own', async () => {
    const { out, err } = await shown(
      delta(1, 'text', 'I look.'),
      said(6, 'I look.'),
      recorded(7, { type: 'call.requested', turn: 0, step: 5, tool: 'ls', args: { a: '\n' }, provider: 'demo' }),
      recorded(9, { type: 'call.settled', call: 7, durationMs: 3, outcome: { type: 'ok', output: { text: '' } } }),
    )
    expect(out).toBe('I look.\n')
    expect(err).toBe('→ ls {"a":"\\n"}\n✓ ls, 3 ms\n')
  })

  it('names the rule that allowed a call', async () => {
    const approved = { type: 'call.approved', call: 7, argsHash: 'a'.repeat(64), scope: 'once' } as const
    const { err } = await shown(
      recorded(7, { type: 'call.requested', turn: 0, step: 5, tool: 'shell', args: {}, provider: 'demo' }),
      recorded(8, { ...approved, by: { rule: 'your rule `git status`' } }),
      recorded(9, { ...approved, by: { rule: 'not destructive' } }),
    )
    expect(err).toBe('→ shell {}\n  allowed by your rule `git status`\n')
  })

  it('has control characters escaped', async () => {
    const { out } = await shown(delta(1, 'text', '\u001b]52;c;eA==\u0007\rx'))
    expect(out).toBe('\\u{1b}]52;c;eA==\\u{7}\\u{d}x\n')
  })
})

describe('the JSON of a running turn', () => {
  it('has a line when the store refuses writes and when it accepts them again, but none at the start', async () => {
    const { output: out, text } = createTextOutput()
    const output = createRunOutput(true, { out, err: out })
    const error = { reason: 'disk_full', message: 'The disk is full.' }
    for (const one of [null, error, null, null]) await output.show(aFrame({ type: 'storage', error: one }))
    const lines = text().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ storage: { error } }, { storage: { error: null } }])
  })
})

describe('the output of a running command', () => {
  const output = (text: string) =>
    aFrame({ type: 'delta', step: 5, part: 9, kind: 'output', call: 6, index: 0, text }) as Frame
  const settled = recorded(9, {
    type: 'call.settled',
    call: 6,
    durationMs: 3,
    outcome: { type: 'ok', output: { text: 'one\ntwo\nlast' } },
  })

  it('is shown line by line at a terminal, without its control sequences', async () => {
    const { err } = await shownAt(
      true,
      output('one\nt'),
      output('wo\n'),
      output('10%\r20%\u001b[1m\nla'),
      output('st'),
      settled,
    )
    expect(err).toBe('  │ one\n  │ two\n  │ 20%\n  │ last\n✓ call, 3 ms\n')
  })

  it('is not shown elsewhere', async () => {
    expect((await shownAt(false, output('one\n'), settled)).err).toBe('✓ call, 3 ms\n')
  })
})
