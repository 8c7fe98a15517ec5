import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Problem } from '@holdfast/core/ports'
import { context, trace } from '@opentelemetry/api'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type InMemorySdk, startInMemorySdk } from './observe/telemetry/testing/in-memory-sdk.ts'
import { openHoldfast } from './open.ts'

describe('a program with a logger and tracing', () => {
  let home = ''
  let sdk: InMemorySdk
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-log-'))
    sdk = startInMemorySdk()
  })
  afterEach(async () => {
    sdk.close()
    await rm(home, { recursive: true, force: true })
  })

  it('gets the events of its sessions in its log and in its traces', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
    const holdfast = await openHoldfast({ environment, logger, store: 'memory:' })
    const session = await holdfast.startSession({ workdir: home })
    const request = trace.getTracer('program').startSpan('POST /ask')
    await context.with(trace.setSpan(context.active(), request), () => session.sendPrompt('list'))
    for await (const frame of session.subscribe({ after: 0 }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    await holdfast.close()

    const logged = lines.map((line) => JSON.parse(line))
    expect(logged.map(({ msg }) => msg)).toContain('command taken')
    expect(logged.find(({ msg }) => msg === 'model call ended')).toMatchObject({
      model: 'demo/agent',
      session: session.id,
    })
    const agent = sdk.spans().find(({ name }) => name === 'invoke_agent holdfast')
    expect(agent?.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
    expect(sdk.spans().map(({ name }) => name)).toContain('execute_tool list_directory')
  })

  it('gets problems in its callback and in its log', async () => {
    const lines: string[] = []
    const problems: Problem[] = []
    const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
    const environment = { HOLDFAST_HOME: home, PATH: process.env['PATH'] }
    const models = Object.defineProperty({}, 'broken/model', {
      enumerable: true,
      get: () => {
        throw new Error('boom')
      },
    })
    await expect(
      openHoldfast({ environment, logger, models, onProblem: (one) => problems.push(one) }),
    ).rejects.toMatchObject({ code: 'internal' })
    expect(problems).toMatchObject([{ where: 'opening', cause: { message: 'boom' } }])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, where: 'opening', err: { message: 'boom', stack: expect.stringContaining('observer.test.ts') } },
    ])
  })
})
