import { SessionId, StepId } from '@holdfast/protocol'
import {
  aRecord,
  aSession,
  aTool,
  call,
  createGate,
  type EventInput,
  fail,
  isRecord,
  modelsWith,
  openTestRuntime,
  say,
  sayPartial,
  type TestRuntimeOptions,
  waitAt,
} from '@holdfast/testkit'
import {
  context,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryBlobs } from '../../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import { names, ownNames } from './attributes.ts'
import { createSessionSpans, type SessionSpans } from './session-spans.ts'
import { type InMemorySdk, startInMemorySdk } from './testing/in-memory-sdk.ts'

const prompt = { type: 'sendPrompt', content: 'the secret question' } as const
const idle = isRecord('turn.ended')
const done = { type: 'ok' as const, output: { text: 'the secret output' } }

const openTraced = (options: Partial<TestRuntimeOptions> = {}) =>
  openTestRuntime({
    store: createMemoryStore(),
    blobs: createMemoryBlobs(),
    observer: createSessionSpans(),
    ...options,
  })

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const found = spans.find((span) => span.name === name)
  if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name)}`)
  return found
}
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId
const idOf = (span: ReadableSpan | Span) => span.spanContext().spanId

describe('the spans of a turn', () => {
  let sdk: InMemorySdk
  beforeEach(() => {
    sdk = startInMemorySdk()
  })
  afterEach(() => sdk.close())

  /** Records a span, as the instrumentation of a program does for each call. */
  const callOut = (name: string) => trace.getTracer('program').startSpan(name).end()

  const oneRound = async (options: Partial<TestRuntimeOptions> = {}) => {
    const touch = aTool(
      'touch',
      async (_, __, { begin }) =>
        begin()
          .then(() => callOut('GET tool'))
          .then(() => done),
      false,
    )
    const runtime = await openTraced({
      script: [[call('touch', { path: 'the secret argument' })], [say('the secret answer')]],
      tools: [touch],
      ...options,
    })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    return runtime
  }

  it('nest model calls and tools below the turn', async () => {
    await oneRound()
    const spans = sdk.spans()
    expect(spans.map(({ name }) => name)).toEqual([
      ...['chat model', 'GET tool', 'execute_tool touch', 'chat model', 'invoke_agent holdfast'],
    ])
    const agent = named(spans, 'invoke_agent holdfast')
    const children = spans.filter((span) => parentOf(span) === idOf(agent)).map(({ name }) => name)
    expect(children).toEqual(['chat model', 'execute_tool touch', 'chat model'])
    expect(parentOf(agent)).toBeUndefined()
    expect(parentOf(named(spans, 'GET tool'))).toBe(idOf(named(spans, 'execute_tool touch')))
    expect(spans.every(({ status }) => status.code === SpanStatusCode.UNSET)).toBe(true)
  })

  it('describe model and usage by the conventions', async () => {
    await oneRound()
    const [first] = sdk.spans()
    expect(first).toMatchObject({ name: 'chat model', kind: SpanKind.CLIENT })
    expect(first?.attributes).toEqual({
      [names.operation]: 'chat',
      [names.provider]: 'sim',
      [names.requestModel]: 'model',
      [names.requestStream]: true,
      [names.conversation]: aSession,
      [names.finishReasons]: ['tool_call'],
      [names.timeToFirstChunk]: expect.any(Number),
      [names.inputTokens]: 100,
      [names.outputTokens]: 10,
      [names.cacheReadTokens]: 0,
      [names.cacheWriteTokens]: 0,
    })
    expect(named(sdk.spans(), 'execute_tool touch').attributes).toEqual({
      [names.operation]: 'execute_tool',
      [names.toolName]: 'touch',
      [names.toolType]: 'function',
      [names.toolCallId]: expect.stringMatching(/^c\d+$/),
      [names.conversation]: aSession,
    })
    expect(named(sdk.spans(), 'invoke_agent holdfast').attributes).toMatchObject({
      [names.operation]: 'invoke_agent',
      [names.agent]: 'holdfast',
      [names.conversation]: aSession,
      [names.requestModel]: 'model',
      [names.inputTokens]: 200,
      [names.outputTokens]: 20,
      [names.finishReasons]: ['stop'],
      [ownNames.turn]: 0,
      [ownNames.turnEnd]: 'done',
    })
  })

  it('contain nothing of the conversation', async () => {
    await oneRound()
    const recorded = sdk.spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
    expect(JSON.stringify(recorded)).not.toContain('secret')
  })

  it('belong to the span that sends the prompt, and model requests to the model call', async () => {
    const models = modelsWith(() => ({
      type: 'ready',
      provider: {
        async *stream() {
          await Promise.resolve()
          callOut('POST model')
          yield { type: 'said', part: 0, said: { type: 'text', text: 'Hi.' } } as const
          const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: null }
          yield { type: 'end', end: { type: 'complete', finish: 'stop', usage } } as const
        },
      },
    }))
    const runtime = await openTraced({ models })
    const request = trace.getTracer('program').startSpan('POST /ask')
    await context.with(trace.setSpan(context.active(), request), () => runtime.send('a', prompt))
    request.end()
    await runtime.frame(idle)
    const spans = sdk.spans()
    expect(parentOf(named(spans, 'invoke_agent holdfast'))).toBe(idOf(request))
    expect(parentOf(named(spans, 'POST model'))).toBe(idOf(named(spans, 'chat model')))
  })

  it('of a queued prompt do not belong to an earlier request', async () => {
    const gate = createGate()
    const runtime = await openTraced({ script: [[waitAt(gate), say('One.')], [say('Two.')]] })
    const request = trace.getTracer('program').startSpan('POST /ask')
    await context.with(trace.setSpan(context.active(), request), () => runtime.send('a', prompt))
    await runtime.send('b', { type: 'queueFollowUp', content: 'then' })
    gate.open()
    await runtime.frame(
      (frame) =>
        idle(frame) && frame.type === 'record' && 'turn' in frame.record.event && frame.record.event.turn === 1,
    )
    const agents = sdk.spans().filter(({ name }) => name === 'invoke_agent holdfast')
    expect(agents.map(parentOf)).toEqual([idOf(request), undefined])
  })

  it('end with the error kind when the model fails', async () => {
    const runtime = await openTraced({
      script: [[fail({ fault: { kind: 'rejected_key', message: 'the secret word' } })]],
    })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    for (const name of ['chat model', 'invoke_agent holdfast']) {
      expect(named(sdk.spans(), name)).toMatchObject({
        status: { code: SpanStatusCode.ERROR },
        attributes: { [names.errorType]: 'rejected_key' },
      })
    }
    expect(JSON.stringify(sdk.spans().map(({ attributes, status }) => ({ attributes, status })))).not.toContain(
      'secret',
    )
  })

  it('mark a failed tool, while the turn continues', async () => {
    const broken = aTool('look', () => Promise.reject(new Error('boom')), false)
    await oneRound({ script: [[call('look', {})], [say('Well.')]], tools: [broken] })
    expect(named(sdk.spans(), 'execute_tool look').attributes[names.errorType]).toBe('tool_failed')
    expect(named(sdk.spans(), 'invoke_agent holdfast').status.code).toBe(SpanStatusCode.UNSET)
  })

  it('end with an abort', async () => {
    const gate = createGate()
    const runtime = await openTraced({ script: [[sayPartial('Well'), waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    await runtime.send('b', { type: 'abort' })
    await runtime.frame(idle)
    for (const name of ['chat model', 'invoke_agent holdfast'])
      expect(named(sdk.spans(), name)).toMatchObject({
        status: { code: SpanStatusCode.ERROR },
        attributes: { [names.errorType]: 'aborted' },
      })
  })

  it('end when the session of a waiting turn leaves, and start again where it continues', async () => {
    const touch = aTool('touch', async (_, __, { begin }) => begin().then(() => done))
    const runtime = await openTraced({ script: [[call('touch', {})], [say('Done.')]], tools: [touch] })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    await runtime.registry.unload(aSession)
    expect(named(sdk.spans(), 'invoke_agent holdfast').attributes[names.errorType]).toBe('interrupted')
    await runtime.send('b', { type: 'respondToApproval', decision: 'approve' })
    await runtime.frame(idle)
    const agents = sdk.spans().filter(({ name }) => name === 'invoke_agent holdfast')
    expect(agents).toHaveLength(2)
    expect(parentOf(named(sdk.spans(), 'execute_tool touch'))).toBe(idOf(agents[1] as ReadableSpan))
  })

  it('measure tokens, duration and time to first chunk in the recommended buckets', async () => {
    const runtime = await openTraced({ script: [[sayPartial('W'), say('Well.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const about = { [names.operation]: 'chat', [names.provider]: 'sim', [names.requestModel]: 'model' }
    const tokens = await sdk.points('gen_ai.client.token.usage')
    expect(tokens.map(({ attributes, value }) => [attributes, value.sum])).toEqual([
      [{ ...about, [names.tokenType]: 'input' }, 100],
      [{ ...about, [names.tokenType]: 'output' }, 10],
    ])
    expect(tokens[0]?.value.buckets.boundaries.slice(0, 4)).toEqual([1, 4, 16, 64])
    expect(tokens[0]?.value.buckets.boundaries.at(-1)).toBe(67_108_864)
    for (const name of ['gen_ai.client.operation.duration', 'gen_ai.client.operation.time_to_first_chunk']) {
      const [point] = await sdk.points(name)
      expect(point).toMatchObject({ attributes: about, value: { count: 1 } })
      expect(point?.value.buckets.boundaries.at(0)).toBe(0.01)
      expect(point?.value.buckets.boundaries.at(-1)).toBe(81.92)
    }
    expect(named(sdk.spans(), 'chat model').attributes[names.timeToFirstChunk]).toBeGreaterThanOrEqual(0)
  })

  const tell = (observer: SessionSpans, from: number, ...events: readonly EventInput[]) =>
    observer.recorded(
      aSession,
      events.map((event, index) => ({ record: aRecord(from + index, event), body: '' })),
    )
  const begun: readonly EventInput[] = [
    { type: 'turn.started', turn: 0, cause: 'prompt' },
    { type: 'step.started', turn: 0, model: 'sim/one', thinkingLevel: 'off', attempt: 1 },
  ]
  it('record each retry and fallback', () => {
    const fault = { kind: 'rate_limited', message: 'the secret', detail: 'the secret' } as const
    const observer = createSessionSpans()
    tell(observer, 1, ...begun)
    observer.retrying(aSession, StepId.parse(2), { tries: 1, fault, waitMs: 1000 })
    tell(
      observer,
      3,
      { type: 'step.ended', turn: 0, step: 2, finish: 'failed', usage: null, fault, fallback: 'sim/two' },
      { type: 'step.started', turn: 0, model: 'sim/two', thinkingLevel: 'off', attempt: 2 },
      { type: 'step.ended', turn: 0, step: 4, finish: 'stop', usage: null },
      { type: 'turn.ended', turn: 0, reason: 'done' },
    )
    const eventsOf = (name: string) => named(sdk.spans(), name).events.map((event) => [event.name, event.attributes])
    const retried = { [ownNames.tries]: 1, [ownNames.waitMs]: 1000, [names.errorType]: 'rate_limited' }
    expect(eventsOf('chat one')).toEqual([['holdfast.retry', retried]])
    expect(eventsOf('invoke_agent holdfast')).toEqual([
      ['holdfast.fallback', { [names.provider]: 'sim', [names.requestModel]: 'two' }],
    ])
    expect(named(sdk.spans(), 'chat one').attributes[names.errorType]).toBe('rate_limited')
    expect(named(sdk.spans(), 'invoke_agent holdfast').status.code).toBe(SpanStatusCode.UNSET)
  })

  it('cover model calls outside a turn', async () => {
    const observer = createSessionSpans()
    const usage = { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, cost: null }
    expect(
      await observer.asking(aSession, 'sim/title', async () => {
        callOut('POST title')
        return { text: 'A', usage }
      }),
    ).toEqual({ text: 'A', usage })
    await observer.asking(aSession, 'sim/title', async () => ({ failed: 'no' }))
    const [inner, asked, refused] = sdk.spans()
    expect(asked).toMatchObject({ name: 'chat title', attributes: { [names.inputTokens]: 7 } })
    expect(inner && parentOf(inner)).toBe(asked && idOf(asked))
    expect(refused?.status.code).toBe(SpanStatusCode.ERROR)
  })
})

describe('telemetry without an SDK', () => {
  it('does no work for deltas', async () => {
    const toldOf = async (deltas: number) => {
      const recorded: string[] = []
      const spans = createSessionSpans()
      const watched = new Proxy(spans, {
        get(target, name: keyof SessionSpans) {
          recorded.push(name)
          return target[name]
        },
      })
      const script = [[...Array.from({ length: deltas }, () => sayPartial('x')), say('Done.')]]
      const runtime = await openTraced({ observer: watched, script })
      await runtime.send('a', prompt)
      await runtime.frame(idle)
      await runtime.registry.close()
      return recorded
    }
    const short = await toldOf(2)
    expect(short.filter((name) => name === 'answering')).toHaveLength(1)
    expect(await toldOf(500)).toEqual(short)
  })

  it('starts a span for the turn and its step, sees that tracing is off, and does nothing more', async () => {
    const started: string[] = []
    const quiet = new ProxyTracerProvider().getTracer('quiet')
    const counting: Tracer = {
      startSpan: (name, ...rest) => {
        started.push(name)
        return quiet.startSpan(name, ...rest)
      },
      startActiveSpan: () => {
        throw new Error('no span is made active')
      },
    }
    trace.setGlobalTracerProvider({ getTracer: () => counting })
    try {
      const runtime = await openTraced({
        script: [[...Array.from({ length: 100 }, () => sayPartial('x')), say('Done.')]],
      })
      await runtime.send('a', prompt)
      await runtime.frame(idle)
      expect(started).toEqual(['invoke_agent holdfast', 'invoke_agent holdfast'])
    } finally {
      trace.disable()
    }
  })

  it('uses an SDK that is set up later', async () => {
    const observer = createSessionSpans()
    const sdk = startInMemorySdk()
    try {
      const session = SessionId.parse(aSession)
      await observer.asking(session, 'sim/title', async () => ({ failed: 'no' }))
      expect(sdk.spans().map(({ name }) => name)).toEqual(['chat title'])
      expect(await sdk.points('gen_ai.client.operation.duration')).toHaveLength(1)
    } finally {
      sdk.close()
    }
  })
})
