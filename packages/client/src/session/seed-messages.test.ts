import { CallId, type Message, MessageId, StepId, TurnNumber } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { toSeeds } from './seed-messages.ts'

const common = (id: number) => ({
  id: MessageId.parse(id),
  parent: null,
  turn: TurnNumber.parse(0),
  at: '2026-01-01T00:00:00.000Z',
  pinned: false,
  collapsed: false,
})
const step = (at: number) => ({ step: StepId.parse(at) })
const said = (id: number, kind: 'assistant' | 'thinking', text: string, at = 2): Message => ({
  kind,
  ...common(id),
  ...step(at),
  text,
})
const called = (id: number, status: 'complete' | 'denied' | 'waiting', at = 2): Message => ({
  kind: 'tool_call',
  ...common(id),
  ...step(at),
  call: {
    id: CallId.parse(id),
    tool: 'look',
    args: { at: 'sky' },
    status,
    durationMs: null,
    approvedBy: null,
    approval: null,
    result: status === 'waiting' ? null : { text: `result ${id}` },
  },
})

describe('messages of a transcript as messages to add', () => {
  it('join the parts of one answer, with the results of its calls after it', () => {
    const messages = [
      said(3, 'thinking', 'hm'),
      said(4, 'assistant', 'Looking.'),
      called(5, 'complete'),
      called(6, 'denied'),
    ]
    const calls = [5, 6].map((id) => ({ id: `c${id}`, tool: 'look', args: { at: 'sky' } }))
    expect(toSeeds(messages)).toEqual([
      { role: 'assistant', thinking: 'hm', content: 'Looking.', toolCalls: calls },
      { role: 'tool', toolCallId: 'c5', content: 'result 5' },
      { role: 'tool', toolCallId: 'c6', content: 'result 6', isError: true },
    ])
  })

  it('keep the order of parts that do not fit into one answer', () => {
    const messages = [
      called(3, 'waiting'),
      said(4, 'assistant', 'a'),
      said(5, 'assistant', 'b'),
      said(9, 'assistant', 'c', 8),
    ]
    expect(toSeeds(messages).map(({ content }) => content)).toEqual(['', 'a', 'b', 'c'])
  })

  it('keep notes with their level, leave usage out, and pass on other messages', () => {
    const note: Message = { kind: 'notice', ...common(1), level: 'error', text: 'failed' }
    const usage: Message = { kind: 'usage', ...common(2), ...step(1), finish: 'stop', usage: null }
    expect(toSeeds([note, usage, { role: 'user', content: 'hi' }])).toEqual([
      { role: 'system', content: 'failed', level: 'error' },
      { role: 'user', content: 'hi' },
    ])
  })
})
