import { commandTypes, orThrow, type Result } from '@holdfast/protocol'
import { aSession, createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { eachCommand } from '../../testing/each-command.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

const codeOf = (answer: Result<unknown>) => (answer.ok ? 'ok' : answer.fault.code)

describe('a seat', () => {
  it('is taken at once: the first client drives, the next one views, and all are told', async () => {
    const { handle } = await openMemoryRuntime()
    const anna = orThrow(await handle.attach({ client: 'anna' }))
    const ben = orThrow(await handle.attach({ client: 'ben', role: 'driver' }))
    expect([anna.role, ben.role]).toEqual(['driver', 'viewer'])
    const { here, meta } = orThrow(await handle.state(['here', 'meta']))
    expect([here?.clients, meta.attachments]).toEqual([
      [
        { client: 'anna', role: 'driver' },
        { client: 'ben', role: 'viewer' },
      ],
      2,
    ])
  })

  it('is refused for a bad name or role', async () => {
    const { handle } = await openMemoryRuntime()
    expect(codeOf(await handle.attach({ client: 'a b' }))).toBe('bad_request')
    expect(codeOf(await handle.attach({ role: 'pilot' as 'viewer' }))).toBe('invalid_role')
    expect(orThrow(await handle.state(['here'])).here?.clients).toEqual([])
  })

  it('of a viewer is refused every command', async () => {
    const { handle } = await openMemoryRuntime()
    const viewer = orThrow(await handle.attach({ client: 'ben', role: 'viewer' }))
    for (const type of commandTypes)
      expect([type, codeOf(await viewer.submit(eachCommand[type]))]).toEqual([type, 'not_driver'])
  })

  it('of a viewer that may drive can abort and claim, and nothing else', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[say('Hi'), waitAt(gate), say('.')]] })
    const anna = orThrow(await runtime.handle.attach({ client: 'anna' }))
    const ben = orThrow(await runtime.handle.attach({ client: 'ben', role: 'viewer', mayDrive: true }))
    await anna.submit({ type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('step.started'))
    expect(codeOf(await ben.submit({ type: 'rename', title: 'mine' }))).toBe('not_driver')
    expect(codeOf(await ben.submit({ type: 'abort' }))).toBe('ok')
    expect(await runtime.frame(isRecord('turn.ended'))).toMatchObject({ record: { by: 'ben' } })
    expect(codeOf(await ben.submit({ type: 'claimDriver' }))).toBe('driver_taken')
    expect(codeOf(await ben.submit({ type: 'claimDriver', takeOver: true }))).toBe('ok')
    expect(codeOf(await anna.submit({ type: 'rename', title: 'mine' }))).toBe('not_driver')
    expect(codeOf(await ben.submit({ type: 'rename', title: 'mine' }))).toBe('ok')
    gate.open()
  })

  it('is given up by detach: the client is refused, and control is free', async () => {
    const { handle } = await openMemoryRuntime()
    const anna = orThrow(await handle.attach({ client: 'anna' }))
    await anna.detach()
    await anna.detach()
    expect(codeOf(await anna.submit({ type: 'rename', title: 'mine' }))).toBe('not_subscribed')
    expect(orThrow(await handle.attach({ client: 'ben' })).role).toBe('driver')
  })

  it('sends in no other name', async () => {
    const { handle } = await openMemoryRuntime()
    const anna = orThrow(await handle.attach({ client: 'anna' }))
    expect(codeOf(await anna.submit({ type: 'rename', title: 'mine' }, { as: 'ben' }))).toBe('bad_request')
  })

  it('keeps the session loaded, and is taken again when the session was stopped', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    const viewer = orThrow(await runtime.handle.attach({ client: 'ben', role: 'viewer' }))
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('turn.ended'))
    runtime.clock.advance(24 * 3_600_000)
    expect(runtime.registry.loaded(aSession)).not.toBeNull()
    await runtime.registry.unload(aSession)
    expect(codeOf(await viewer.submit({ type: 'rename', title: 'mine' }))).toBe('not_driver')
    expect(orThrow(await runtime.handle.state(['here'])).here?.clients).toEqual([{ client: 'ben', role: 'viewer' }])
  })
})
