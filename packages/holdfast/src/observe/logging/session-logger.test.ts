import {
  aTool,
  call,
  createFaultyStore,
  fail,
  finish,
  isRecord,
  openTestRuntime,
  say,
  type TestRuntimeOptions,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryBlobs } from '../../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import type { LogLevel } from './logger.ts'
import { createSessionLogger } from './session-logger.ts'
import { createKeptLogger } from './testing/memory-logger.ts'

const prompt = { type: 'sendPrompt', content: 'the secret question' } as const
const done = { type: 'ok' as const, output: { text: 'the secret output' } }
const touch = aTool('touch', async (_, __, { begin }) => begin().then(() => done), false)

async function loggedTurn(options: Partial<TestRuntimeOptions>, level: LogLevel = 'trace') {
  const { logger, lines } = createKeptLogger(level)
  const observer = createSessionLogger(logger)
  const runtime = await openTestRuntime({
    store: createMemoryStore(),
    blobs: createMemoryBlobs(),
    observer,
    ...options,
  })
  await runtime.send('a', prompt)
  await runtime.frame(isRecord('turn.ended'))
  return { runtime, lines, line: (message: string) => lines.find((one) => one.message === message) }
}

const oneRound = { script: [[call('touch', { path: 'the argument' })], [say('the secret answer')]], tools: [touch] }

describe('the session logger', () => {
  it('logs each turn, model call, tool call and command', async () => {
    const { lines, line } = await loggedTurn(oneRound, 'info')
    expect(lines.map(({ message }) => message)).toEqual([
      ...['turn started', 'command taken', 'model call ended', 'tool call settled', 'model call ended', 'turn ended'],
    ])
    expect(line('command taken')?.fields).toMatchObject({
      commandId: 'a',
      command: 'sendPrompt',
      ms: expect.any(Number),
    })
    expect(line('model call ended')?.fields).toMatchObject({
      model: 'sim/model',
      attempt: 1,
      finish: 'calls',
      ms: expect.any(Number),
      usage: { input: 100, output: 10 },
    })
    expect(line('tool call settled')?.fields).toMatchObject({ tool: 'touch', outcome: 'ok', ms: expect.any(Number) })
  })

  it('logs nothing of the conversation, and call arguments only at debug', async () => {
    const quiet = await loggedTurn(oneRound, 'info')
    expect(JSON.stringify(quiet.lines)).not.toMatch(/secret|argument/)
    const loud = await loggedTurn(oneRound, 'debug')
    expect(JSON.stringify(loud.lines)).not.toContain('secret')
    expect(loud.line('tool call requested')?.fields).toMatchObject({ tool: 'touch', args: '{"path":"the argument"}' })
  })

  it('logs the response of a service that failed', async () => {
    const detail = 'HTTP 400\nrequest-id: req_7\n{"error":"bad"}'
    const fault = { kind: 'passthrough', message: 'It could not answer.', detail } as const
    const { line } = await loggedTurn({ script: [[fail({ fault })]] })
    const why = { kind: 'passthrough', reason: 'It could not answer.', detail }
    expect(line('model call failed')).toMatchObject({
      level: 'warn',
      fields: { model: 'sim/model', attempt: 1, ...why },
    })
    expect(line('turn failed')).toMatchObject({ level: 'warn', fields: { end: 'failed', ...why } })
  })

  it('logs each attempt of a retried call', async () => {
    const { logger, lines } = createKeptLogger()
    const script = [
      [
        fail({
          retryable: true,
          retryAfterMs: 5_000,
          fault: { kind: 'rate_limited', message: 'Later.', detail: 'HTTP 429' },
        }),
      ],
      [say('Now.'), finish('stop')],
    ]
    const observer = createSessionLogger(logger)
    const runtime = await openTestRuntime({ store: createMemoryStore(), blobs: createMemoryBlobs(), observer, script })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('note.added'))
    const ended = runtime.frame(isRecord('turn.ended'))
    runtime.clock.advance(60_000)
    await ended
    expect(lines.find(({ message }) => message === 'model call is tried again')).toMatchObject({
      level: 'warn',
      fields: { model: 'sim/model', attempt: 1, tries: 1, kind: 'rate_limited', detail: 'HTTP 429', waitMs: 5_000 },
    })
  })

  it('logs why a command was refused', async () => {
    const { runtime, line } = await loggedTurn({ script: [[say('Hi.')]] })
    await runtime.send('b', { type: 'respondToApproval', decision: 'approve' })
    expect(line('command refused')).toMatchObject({
      level: 'info',
      fields: { commandId: 'b', command: 'respondToApproval', code: 'no_pending_approval' },
    })
  })

  it('logs when the store refuses writes and when it accepts them again', async () => {
    const { logger, lines } = createKeptLogger()
    const store = createFaultyStore(createMemoryStore())
    const observer = createSessionLogger(logger)
    const runtime = await openTestRuntime({ store, blobs: createMemoryBlobs(), observer, script: [[say('Hi.')]] })
    store.breakDown()
    await runtime.send('a', prompt)
    store.heal()
    const about = () => lines.filter(({ message }) => message.startsWith('store'))
    const passed = () => {
      runtime.clock.advance(60_000) // until the store is probed
      return about().length
    }
    await expect.poll(passed).toBe(2)
    expect(about()).toMatchObject([
      { level: 'error', message: 'store refuses', fields: { code: 'disk_full', reason: expect.any(String) } },
      { level: 'info', message: 'store takes writes again' },
    ])
  })

  it('logs model calls outside a turn', async () => {
    const { logger, lines } = createKeptLogger()
    const observer = createSessionLogger(logger)
    const { handle } = (await loggedTurn({ script: [[say('Hi.')]] })).runtime
    await observer.asking(handle.id, 'sim/title', async () => ({ failed: 'The model refused.' }))
    expect(lines).toMatchObject([{ level: 'warn', fields: { model: 'sim/title', reason: 'The model refused.' } }])
  })
})
