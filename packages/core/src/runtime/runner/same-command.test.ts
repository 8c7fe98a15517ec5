import { Command, CommandId, commandTypes, limits } from '@holdfast/protocol'
import { isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Append } from '../../ports/store/log.ts'
import { processRequests } from '../../session/input.ts'
import { asked, decided, events, phases } from '../../testing/deciding.ts'
import { eachCommand, type SessionCommandInput } from '../../testing/each-command.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createUnrecorded, hashCommand, mayHaveWritten } from './same-command.ts'

const rename = (title: string) => ({ type: 'rename', title }) as const
const pin = { type: 'pinSession', pinned: true } as const

describe('a command id that was used before', () => {
  it('answers a retry, whatever the order of its fields', async () => {
    const { handle, send } = await openMemoryRuntime()
    const event = { eventId: 'one', type: 'shown', data: { a: 1, b: [{ c: 2, d: 3 }] } }
    const again = { type: 'shown', data: { b: [{ d: 3, c: 2 }], a: 1 }, eventId: 'one' }
    const first = await handle.submit({ type: 'appendClientEvent', event })
    expect(await handle.submit({ type: 'appendClientEvent', event: again })).toEqual(first)
    expect(await send('a', rename('first'))).toEqual(await send('a', rename('first')))
  })

  it('is refused for another command, which changes nothing', async () => {
    const { handle, send } = await openMemoryRuntime()
    const { seq } = await accepted(send('a', rename('first')))
    const others = [
      rename('second'),
      pin,
      { type: 'claimDriver' },
      { type: 'abort' },
      { type: 'sendPrompt', content: 'x' },
    ]
    for (const other of others as readonly (typeof pin)[])
      expect(await send('a', other)).toMatchObject({ fault: { code: 'command_id_reused', details: { seq } } })
    const snapshot = await handle.snapshot()
    expect(snapshot).toMatchObject({ value: { seq, meta: { title: 'first', pinned: false } } })
  })

  it.each([
    ['an abort without a turn', { type: 'abort' }],
    ['a setting that is set already', { type: 'pinSession', pinned: false }],
    ['a request to the process', { type: 'refreshCredentials' }],
  ] as const)('is refused also after %s, which records nothing', async (_, first) => {
    const { handle, send } = await openMemoryRuntime()
    const { seq } = await accepted(send('a', first))
    expect(await send('a', rename('other'))).toMatchObject({ fault: { code: 'command_id_reused' } })
    expect(await send('a', pin)).toMatchObject({ fault: { code: 'command_id_reused' } })
    expect(await send('a', first)).toMatchObject({ ok: true })
    expect(await handle.snapshot()).toMatchObject({ value: { seq } })
  })

  it('of a command that recorded nothing is forgotten after a thousand others', () => {
    const unrecorded = createUnrecorded()
    const sent = (each: number, command: Command) => ({ commandId: CommandId.parse(`c${each}`), command })
    for (let each = 0; each <= 1000; each++) unrecorded.remember(sent(each, { type: 'abort' }))
    expect(unrecorded.findReuse(sent(0, rename('x')))).toBe(null)
    expect(unrecorded.findReuse(sent(1, rename('x')))).toMatchObject({ code: 'command_id_reused' })
    expect(unrecorded.findReuse(sent(1, { type: 'abort' }))).toBe(null)
  })

  it('is refused for a client event with the same id and another content', async () => {
    const { handle } = await openMemoryRuntime()
    const send = (data: string) =>
      handle.submit({ type: 'appendClientEvent', event: { eventId: 'one', type: 'shown', data } })
    await accepted(send('first'))
    expect(await send('second')).toMatchObject({ fault: { code: 'command_id_reused' } })
  })

  it('is decided afresh if the first command was refused', async () => {
    const { send } = await openMemoryRuntime()
    expect(await send('a', { type: 'continue' })).toMatchObject({ ok: false })
    await accepted(send('a', pin))
  })

  it('does not end a later turn, if an abort reuses the id of another command', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await accepted(runtime.send('a', { type: 'sendPrompt', content: 'go' }))
    await runtime.frame(isRecord('turn.ended'))
    expect(await runtime.send('a', { type: 'abort' })).toMatchObject({ fault: { code: 'command_id_reused' } })
  })

  it('is compared by type with a record that has no hash', async () => {
    const store = createMemoryStore()
    const old = { ...store, append: ({ commandHash: _, ...append }: Append) => store.append(append) }
    const { send } = await openMemoryRuntime({ store: old })
    const first = await send('a', rename('first'))
    expect(await send('a', rename('second'))).toEqual(first)
    expect(await send('a', pin)).toMatchObject({ fault: { code: 'command_id_reused' } })
  })
})

const accepted = async (answer: Promise<{ ok: boolean; value?: { seq: number } }>) => {
  const { value } = await answer
  if (!value) throw new Error('it is accepted')
  return value
}

describe('the commands that may have written an event', () => {
  const sessionCommands = commandTypes.filter(
    (type): type is SessionCommandInput['type'] => !processRequests.some((one) => one === type),
  )
  it.each(sessionCommands)('include %s for each event that it writes first', (type) => {
    for (const state of Object.values(phases)) {
      const input = asked(eachCommand[type])
      if (!decided(state, input).includes('.')) continue
      const [first] = events(state, input)
      expect([first?.type, first && mayHaveWritten(type, first)]).toEqual([first?.type, true])
    }
  })
})

it('hashes a long command in one pass', () => {
  const long = Command.parse({ type: 'sendPrompt', content: 'x'.repeat(limits.promptBytesMax) })
  expect(hashCommand(long)).toMatch(/^[\w-]{22}$/)
  expect(CommandId.parse('a')).toBe('a')
})
