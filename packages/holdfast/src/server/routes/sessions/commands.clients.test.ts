import type { FrameOf } from '@holdfast/protocol'
import { createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>
type TokenName = keyof Test['tokens']

/** Sends requests with one of the tokens; each returns the status or the fault code. */
function callsOf(test: Test) {
  const send = async (token: TokenName, path: string, body?: object, as?: string) => {
    const answer = await test.call(`${test.path}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${test.tokens[token]}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(as !== undefined && { 'holdfast-attachment': as }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return answer.ok ? answer.status : codeOf(answer)
  }
  return {
    attach: (token: TokenName, attachment: string, role = 'driver') =>
      send(token, '/attachments', { attachment, role }),
    command: (token: TokenName, type: string, as?: string, more: object = {}) =>
      send(token, '/commands', { type, ...more }, as),
    claim: (token: TokenName, name: string, query = '') => send(token, `/attachments/${name}/claim${query}`),
  }
}

const clientsOf = (test: Test) => test.runtime.registry.loaded(test.runtime.handle.id)?.hub.drivers.all ?? []

describe('a command over HTTP', () => {
  it('of a client that is not attached is refused', async () => {
    await using test = await openRuntimeServer()
    const { command } = callsOf(test)
    for (const token of ['driver', 'admin'] as const)
      expect(await command(token, 'enterPlan', 'nobody')).toBe('not_subscribed')
    expect(await command('driver', 'enterPlan')).toBe(202)
  })

  it('that aborts needs a token that may drive, and no seat', async () => {
    const gate = createGate()
    await using test = await openRuntimeServer({}, undefined, {
      script: () => [say('Hi'), waitAt(gate), say('.')],
    })
    const { attach, command } = callsOf(test)
    expect(await attach('admin', 'desk')).toBe(201)
    expect(await attach('driver', 'phone', 'viewer')).toBe(201)
    for (const as of ['phone', undefined, 'unknown']) {
      expect(await command('admin', 'sendPrompt', 'desk', { content: 'go' })).toBe(202)
      await test.runtime.frame(isRecord('step.started'))
      expect(await command('driver', 'enterPlan', as)).toBe(as === 'unknown' ? 'not_subscribed' : 'not_driver')
      expect([as, await command('viewer', 'abort', as)]).toEqual([as, 'not_driver'])
      expect([as, await command('driver', 'abort', as)]).toEqual([as, 202])
      await test.runtime.frame(isRecord('turn.ended'))
    }
    gate.open()
  })
})

describe('control over HTTP', () => {
  it('is taken over from the own other screen with any token that may drive, and everyone is told', async () => {
    await using test = await openRuntimeServer()
    const { attach, claim, command } = callsOf(test)
    await attach('driver', 'desk')
    await attach('driver', 'phone')
    const left = new AbortController()
    const told: FrameOf<'presence'>['clients'][] = []
    const watching = (async () => {
      for await (const frame of test.runtime.handle.subscribe({ signal: left.signal })) {
        if (frame.type === 'presence') told.push(frame.clients)
        if (frame.type === 'snapshot') {
          expect(await claim('driver', 'phone')).toBe('driver_taken')
          expect(await claim('driver', 'phone', '?takeOver=true')).toBe(202)
        }
        if (frame.type === 'presence') left.abort()
      }
    })()
    await watching
    expect(told).toEqual([
      [
        { client: 'desk', role: 'viewer' },
        { client: 'phone', role: 'driver' },
      ],
    ])
    expect(await command('driver', 'claimDriver', 'desk', { takeOver: true })).toBe(202)
    expect(clientsOf(test).map(({ role }) => role)).toEqual(['driver', 'viewer'])
  })

  it('is taken from someone else only with an admin token', async () => {
    await using test = await openRuntimeServer()
    const { attach, claim } = callsOf(test)
    await attach('admin', 'desk')
    await attach('driver', 'phone')
    expect(await claim('driver', 'phone', '?takeOver=true')).toBe('driver_taken')
    await attach('admin', 'tablet')
    expect(await claim('admin', 'tablet', '?takeOver=true')).toBe(202)
    expect(clientsOf(test).find(({ role }) => role === 'driver')?.client).toBe('tablet')
    expect(await claim('viewer', 'phone', '?takeOver=true')).toBe('not_driver')
  })
})
