import { CallId, SeedMessages } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { seed } from './seed.ts'

const events = (...messages: readonly unknown[]) => {
  const seeded = seed({ seq: 10, turns: 3 }, SeedMessages.parse(messages))
  if (!seeded.ok) throw new Error(seeded.fault.message)
  return seeded.value
}
const types = (...messages: readonly unknown[]) => events(...messages).map(({ type }) => type)
const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string, ...ids: readonly string[]) => ({
  role: 'assistant',
  content,
  ...(ids.length > 0 && { toolCalls: ids.map((id) => ({ id, tool: 'look', args: { id } })) }),
})
const result = (toolCallId: string, isError = false) => ({ role: 'tool', content: 'seen', toolCallId, isError })

describe('messages from elsewhere', () => {
  it('become turns that continue the numbers of the line', () => {
    expect(events(user('a'), assistant('b'), user('c'))).toMatchObject([
      { type: 'turn.started', turn: 3, cause: 'seed' },
      { type: 'user.said', turn: 3 },
      { type: 'text.said', turn: 3, step: 13, text: 'b' },
      { type: 'turn.ended', turn: 3, reason: 'done' },
      { type: 'turn.started', turn: 4 },
      { type: 'user.said', turn: 4 },
      { type: 'turn.ended', turn: 4 },
    ])
  })

  it('keep each call with its result, whatever the order of the results', () => {
    expect(events(user('a'), assistant('', 'x', 'y'), result('y', true), result('x'))).toMatchObject([
      { type: 'turn.started' },
      { type: 'user.said' },
      { type: 'call.requested', step: 13, args: { id: 'x' } },
      { type: 'call.requested', step: 13, args: { id: 'y' } },
      { type: 'call.settled', call: 14, outcome: { type: 'failed' } },
      { type: 'call.settled', call: 13, outcome: { type: 'ok' } },
      { type: 'turn.ended' },
    ])
  })

  it('settle an unanswered call before the next message', () => {
    expect(types(user('a'), assistant('', 'x'), user('b')).slice(3, 6)).toEqual([
      'call.settled',
      'turn.ended',
      'turn.started',
    ])
    expect(types(assistant('', 'x')).slice(-2)).toEqual(['call.settled', 'turn.ended'])
  })

  it('allow an answer before any prompt, and notes outside of turns', () => {
    expect(types(assistant('hello'))).toEqual(['turn.started', 'text.said', 'turn.ended'])
    expect(types({ role: 'system', content: 'noted' })).toEqual(['note.added'])
  })

  it.each([
    ['a result that answers no call', [user('a'), result('x')]],
    ['a late result', [assistant('', 'x'), user('b'), result('x')]],
    ['a repeated result', [assistant('', 'x'), result('x'), result('x')]],
    ['a repeated call id', [assistant('', 'x', 'x')]],
  ])('are refused with %s', (_, messages) => {
    expect(seed({ seq: 0, turns: 0 }, SeedMessages.parse(messages))).toMatchObject({ fault: { code: 'bad_request' } })
  })
})

describe('messages of a conversation that a program leads', () => {
  const given = (message: object) => ({ ...message, given: { ...message, content: null } })
  const going = (
    awaited: readonly { readonly call: number; readonly id: string }[],
    ...messages: readonly unknown[]
  ) => {
    const from = { seq: 10, turns: 3, awaited: awaited.map(({ call, id }) => ({ call: CallId.parse(call), id })) }
    const seeded = seed(from, SeedMessages.parse(messages))
    if (!seeded.ok) throw new Error(seeded.fault.message)
    return seeded.value
  }

  it('are recorded as given, before their events', () => {
    expect(going([], given({ role: 'user', content: 'a' }))).toMatchObject([
      { type: 'turn.started', turn: 3 },
      { type: 'message.given', turn: 3, message: { role: 'user', content: null }, records: 1 },
      { type: 'user.said', turn: 3 },
      { type: 'turn.ended', turn: 3 },
    ])
    expect(going([], given({ role: 'assistant', content: '' }))).toMatchObject([
      { type: 'turn.started' },
      { type: 'message.given', records: 0 },
      { type: 'turn.ended' },
    ])
  })

  it('continue the last turn: only a user message begins another', () => {
    expect(going([], { ...assistant('b'), given: {} }, { ...user('c'), given: {} })).toMatchObject([
      { type: 'turn.started', turn: 2 },
      { type: 'text.said', turn: 2 },
      { type: 'turn.ended', turn: 2 },
      { type: 'turn.started', turn: 3 },
      { type: 'user.said', turn: 3 },
      { type: 'turn.ended', turn: 3 },
    ])
  })

  it('leave a call open for a later result, and settle it at the next other message', () => {
    expect(going([], given(assistant('', 'x'))).map(({ type }) => type)).not.toContain('call.settled')
    const awaited = [{ call: 7, id: 'x' }]
    expect(going(awaited, given(result('x')))).toMatchObject([
      { type: 'message.given', records: 1 },
      { type: 'call.settled', call: 7, outcome: { type: 'ok', output: { text: 'seen' } } },
    ])
    expect(going(awaited, result('x'))).toMatchObject([{ type: 'call.settled', call: 7 }])
    expect(going(awaited, given({ role: 'system', content: 'wait' })).map(({ type }) => type)).not.toContain(
      'call.settled',
    )
    expect(going(awaited, user('never mind'))[0]).toMatchObject({
      type: 'call.settled',
      outcome: { type: 'interrupted', code: 'cancelled' },
    })
  })

  it('send a system message to the model, and show a result without a call to people only', () => {
    expect(going([], given({ role: 'system', content: 'be brief' }))).toMatchObject([
      { type: 'message.given' },
      { type: 'note.added', told: true, text: 'be brief' },
    ])
    const [, note] = going([], given(result('nowhere')))
    expect(note).toMatchObject({ type: 'note.added', text: 'seen' })
    expect(note).not.toHaveProperty('told')
  })
})
