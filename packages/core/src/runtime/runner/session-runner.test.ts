import { BlobHash, type Frame, fault, orThrow, refuse } from '@holdfast/protocol'
import {
  aSession,
  aTool,
  call,
  createFaultyStore,
  createGate,
  createScriptedModel,
  createVirtualClock,
  diskFull,
  isRecord,
  modelsOf,
  modelsWith,
  say,
  sayPartial,
  type TestRuntime,
  type VirtualClock,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../ports/observer.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Tool } from '../../ports/tool.ts'
import { stillness } from '../../testing/let-waits-pass.ts'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'
import { createLocalSessions } from '../api/local-sessions.ts'
import { StillRunning } from '../effects/aborted-work.ts'
import { createSessionRegistry } from '../registry/session-registry.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const approve = { type: 'respondToApproval', decision: 'approve' } as const
const done = { type: 'ok' as const, output: { text: 'done' } }
const seqOf = (frame: Frame) => (frame.type === 'record' ? frame.record.seq : 0)
const idle = isRecord('turn.ended')

describe('a turn', () => {
  it('runs from the prompt through an approved call to its end, and records each step first', async () => {
    const runtime = await openMemoryRuntime({
      script: [[call('touch', {})], [say('Done.')]],
      tools: [aTool('touch', async (_, __, { begin }) => begin().then(() => done))],
    })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    await runtime.send('b', approve)
    await runtime.frame(idle)
    expect(await runtime.events()).toEqual([
      ...['session.started', 'turn.started', 'user.said', 'context.changed', 'step.started'],
      ...['call.requested', 'step.ended', 'approval.asked', 'call.approved', 'call.started', 'call.settled'],
      ...['step.started', 'text.said', 'step.ended', 'turn.ended'],
    ])
  })

  it('continues with an error result when its tool throws', async () => {
    const broken = aTool('look', () => Promise.reject(new Error('boom')), false)
    const runtime = await openMemoryRuntime({ script: [[call('look', {})], [say('Well.')]], tools: [broken] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    expect(runtime.model.requests[1]?.messages.at(-1)?.content).toMatchObject([
      { isError: true, text: 'The tool look failed: boom' },
    ])
  })
})

describe('a model that can no longer be called once its turn has begun', () => {
  it.each([
    ['unknown_model', 'passthrough', 'before its step', 2],
    ['unknown_model', 'passthrough', 'in its step', 3],
    ['no_credentials', 'auth_failed', 'before its step', 2],
  ] as const)('(%s) is recorded as %s, %s', async (type, kind, _, nth) => {
    const ready = modelsOf(createScriptedModel([]))
    let asked = 0
    const runtime = await openMemoryRuntime({
      models: modelsWith((model) => (++asked < nth ? ready.find(model) : { type, message: 'It cannot.' })),
    })
    await runtime.send('a', prompt)
    expect(await runtime.frame(idle)).toMatchObject({
      record: { event: { reason: 'failed', fault: { kind, message: 'It cannot.' } } },
    })
  })
})

describe('a session that is stopped', () => {
  it('reports that its turn could not be settled while the disk is full', async () => {
    const store = createFaultyStore(createMemoryStore())
    const gate = createGate()
    const problems: Problem[] = []
    const runtime = await openMemoryRuntime({ store, script: [[waitAt(gate)]] })
    await runtime.registry.unload(aSession)
    const onProblem = (problem: Problem) => void problems.push(problem)
    const registry = createSessionRegistry({ ...runtime.registry.deps, newSessionId: () => aSession, onProblem })
    await registry.start({ workdir: '/work' })
    await createLocalSession(registry, aSession).submit(prompt)
    await gate.reached
    store.breakDown()
    await registry.unload(aSession)
    expect(problems).toEqual([{ where: `stopping ${aSession}`, cause: diskFull }])
  })
})

describe('a tool that ignores its abort', () => {
  /** A tool whose calls with `deaf` end only when the test ends them. */
  function deafTool(contentHash?: BlobHash) {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const run: Tool['run'] = async (args, _, { begin }) => {
      await begin()
      if (!args['deaf']) return done
      started.resolve()
      await ended.promise
      return { type: 'ok', output: { text: 'late' } }
    }
    const prepare: Tool['prepare'] = async (args) => ({
      type: 'ready',
      args,
      preview: { type: 'arguments', args },
      contentHash,
    })
    return { started: started.promise, end: ended.resolve, tool: { ...aTool('touch', run, false), prepare } }
  }

  /** Moves the clock until a promise is resolved. */
  async function advanceUntil(clock: VirtualClock, awaited: Promise<unknown>): Promise<void> {
    let isOver = false
    const over = awaited.then(() => {
      isOver = true
    })
    for (; !isOver; await new Promise((resolve) => setImmediate(resolve))) clock.advance(1000)
    await over
  }

  it('does not keep its session from being unloaded, and its late result is not written', async () => {
    const { started, end, tool } = deafTool()
    const problems: Problem[] = []
    const runtime = await openMemoryRuntime({ tools: [tool], script: [[call('touch', { deaf: true })]] })
    await runtime.registry.unload(aSession)
    const onProblem = (problem: Problem) => void problems.push(problem)
    const registry = createSessionRegistry({ ...runtime.registry.deps, newSessionId: () => aSession, onProblem })
    await registry.start({ workdir: '/work' })
    await createLocalSession(registry, aSession).submit(prompt)
    await started
    await advanceUntil(runtime.clock, registry.unload(aSession))
    expect(problems).toEqual([{ where: `stopping ${aSession}`, cause: new StillRunning() }])
    const handle = createLocalSession(registry, aSession)
    const before = orThrow(await handle.snapshot())
    end()
    await new Promise((resolve) => setImmediate(resolve))
    const after = orThrow(await handle.snapshot())
    expect(after).toEqual(before)
    expect(JSON.stringify(after)).not.toContain('late')
    expect(problems).toHaveLength(1)
  })

  it.each([
    ['stopped', (runtime: TestRuntime) => createLocalSessions(runtime.registry).stop(aSession)],
    ['deleted', (runtime: TestRuntime) => createLocalSessions(runtime.registry).delete(aSession, { force: true })],
    ['closed', (runtime: TestRuntime) => runtime.registry.close()],
  ] as const)('does not keep its session from being %s', async (_, leave) => {
    const { started, tool } = deafTool()
    const runtime = await openMemoryRuntime({ tools: [tool], script: [[call('touch', { deaf: true })]] })
    await runtime.send('a', prompt)
    await started
    await advanceUntil(runtime.clock, leave(runtime))
    expect(runtime.registry.loaded(aSession)).toBe(null)
  })

  it('does not block a later call that is bound to content, or its question', async () => {
    const { started, tool } = deafTool(BlobHash.parse('a'.repeat(64)))
    const script = [[call('touch', { deaf: true })], [call('touch', {})], [say('Done.')]]
    const runtime = await openMemoryRuntime({ tools: [tool], script })
    await runtime.send('a', prompt)
    await started
    await runtime.send('b', { type: 'abort' })
    await runtime.send('c', prompt)
    const isDone = (frame: Frame) => isRecord('turn.ended')(frame) && JSON.stringify(frame).includes('"done"')
    await advanceUntil(runtime.clock, runtime.frame(isDone))
  })

  it('does not hold back a later question while it is being prepared', async () => {
    const preparing = Promise.withResolvers<void>()
    const touch: Tool = {
      ...aTool('touch', async () => done),
      prepare: async (args) => {
        preparing.resolve()
        if (args['deaf']) await new Promise(() => undefined)
        return { type: 'ready', args, preview: { type: 'arguments', args } }
      },
    }
    const script = [[call('touch', { deaf: true })], [call('touch', {})]]
    const runtime = await openMemoryRuntime({ tools: [touch], script })
    await runtime.send('a', prompt)
    await preparing.promise
    await runtime.send('b', { type: 'abort' })
    await runtime.send('c', prompt)
    await advanceUntil(runtime.clock, runtime.frame(isRecord('approval.asked')))
  })
})

describe('an abort that is not recorded yet', () => {
  it('reports an error when it is recorded, and ends nothing else', async () => {
    const inner = createMemoryStore()
    let answers: 'fine' | 'full' | 'broken' = 'fine'
    const gate = createGate()
    const problems: Problem[] = []
    const broken = new Error('broken')
    const store: Store = {
      ...inner,
      async append(append) {
        if (answers === 'broken') throw broken
        return answers === 'full' ? refuse(diskFull) : inner.append(append)
      },
    }
    const runtime = await openMemoryRuntime({ store, script: [[waitAt(gate)]] })
    await runtime.registry.unload(aSession)
    const onProblem = (problem: Problem) => void problems.push(problem)
    const registry = createSessionRegistry({ ...runtime.registry.deps, newSessionId: () => aSession, onProblem })
    await registry.start({ workdir: '/work' })
    const handle = createLocalSession(registry, aSession)
    await handle.submit(prompt)
    await gate.reached
    answers = 'full'
    await handle.submit({ type: 'abort' })
    answers = 'broken'
    runtime.clock.advance(500)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    expect(problems[0]).toEqual({ where: `session ${aSession}`, cause: broken })
  })
})

describe('a command sent again', () => {
  it('gets its first answer and changes nothing', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    const first = await runtime.send('a', prompt)
    await runtime.frame(idle)
    const before = await runtime.events()
    expect(await runtime.send('a', prompt)).toEqual(first)
    expect(await runtime.events()).toEqual(before)
  })

  it('that is an abort does not stop a turn that began later', async () => {
    const gates = [createGate(), createGate()] as const
    const runtime = await openMemoryRuntime({ script: [[waitAt(gates[0])], [waitAt(gates[1]), say('Still here.')]] })
    await runtime.send('a', prompt)
    await gates[0].reached
    await runtime.send('stop', { type: 'abort' })
    await runtime.send('b', prompt)
    await gates[1].reached
    await runtime.send('stop', { type: 'abort' })
    gates[1].open()
    await runtime.frame(isRecord('text.said'))
  })
})

describe('two clients that answer the same question at once', () => {
  it('get different results: the first decides, the second gets the name of the first', async () => {
    const runtime = await openMemoryRuntime({
      script: [[call('touch', {})]],
      tools: [aTool('touch', async () => done)],
    })
    await runtime.send('a', prompt)
    const asked = await runtime.frame(isRecord('approval.asked'))
    const answer = { ...approve, approval: seqOf(asked) }
    const both = await Promise.all([runtime.handle.submit(answer), runtime.handle.submit(answer)])
    expect(both).toMatchObject([{ ok: true }, { ok: false, fault: { code: 'already_decided' } }])
  })
})

describe('an abort', () => {
  it('of a turn that has ended does not stop the turn that runs', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[say('One.')], [waitAt(gate), say('Two.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('turn.ended'))
    await runtime.send('b', prompt)
    await gate.reached
    const before = await runtime.events()
    expect(await runtime.send('stop', { type: 'abort', turn: 0 })).toMatchObject({ ok: true, value: { result: {} } })
    expect(await runtime.events()).toEqual(before)
    gate.open()
    const ended = await runtime.frame(
      (frame) => isRecord('turn.ended')(frame) && 'record' in frame && frame.record.seq > before.length,
    )
    expect(ended).toMatchObject({ record: { event: { turn: 1, reason: 'done' } } })
  })

  it('of the turn that runs stops it', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    await runtime.send('stop', { type: 'abort', turn: 0 })
    expect(await runtime.frame(isRecord('turn.ended'))).toMatchObject({ record: { event: { reason: 'aborted' } } })
  })

  it('does not stop a prompt that was sent after it, though the disk answers late', async () => {
    const store = createMemoryStore()
    const look = createGate()
    const slow: Store = {
      ...store,
      findCommand: async (session, id) => {
        if (id === 'stop') await look.pass()
        return store.findCommand(session, id)
      },
    }
    const model = createGate()
    const runtime = await openMemoryRuntime({ store: slow, script: [[waitAt(model), say('One.')]] })
    const aborting = runtime.send('stop', { type: 'abort' })
    await look.reached
    const prompting = runtime.send('a', prompt)
    await stillness()
    look.open()
    expect(await Promise.all([aborting, prompting])).toMatchObject([{ ok: true }, { ok: true }])
    model.open()
    expect(await runtime.frame(isRecord('turn.ended'))).toMatchObject({ record: { event: { reason: 'done' } } })
  })

  it('stops a prompt that was sent before it, though its files are still being read', async () => {
    const blobs = createMemoryBlobs()
    const look = createGate()
    const model = createGate()
    const slow: Blobs = {
      ...blobs,
      open: async (hash) => {
        await look.pass()
        return blobs.open(hash)
      },
    }
    const runtime = await openMemoryRuntime({ blobs: slow, script: [[waitAt(model)]] })
    const bytes = Buffer.from('a text')
    const { hash: blob } = orThrow(await blobs.put([bytes]))
    const file = { type: 'file', blob, mediaType: 'text/plain', bytes: bytes.length } as const
    const prompting = runtime.send('a', { type: 'sendPrompt', content: [file] })
    await look.reached
    const aborting = runtime.send('stop', { type: 'abort' })
    await stillness()
    look.open()
    expect(await Promise.all([prompting, aborting])).toMatchObject([{ ok: true }, { ok: true }])
    expect(await runtime.frame(isRecord('turn.ended'))).toMatchObject({ record: { event: { reason: 'aborted' } } })
  })

  it('keeps the text so far and drops late parts', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[sayPartial('I was about'), waitAt(gate), say(' to say')]] })
    await runtime.send('a', prompt)
    await gate.reached
    await runtime.send('stop', { type: 'abort' })
    gate.open()
    expect(await runtime.frame(isRecord('text.said'))).toMatchObject({
      record: { event: { text: 'I was about', interrupted: true } },
    })
    expect((await runtime.events()).slice(-3)).toEqual(['text.said', 'step.ended', 'turn.ended'])
  })

  it('under the id of another command leaves no abandoned turn', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[sayPartial('I was about'), waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    const both = [runtime.send('b', { type: 'enterPlan' }), runtime.send('b', { type: 'abort' })]
    expect(await Promise.all(both)).toMatchObject([{ ok: true }, { fault: { code: 'command_id_reused' } }])
    expect((await runtime.events()).slice(-4)).toEqual(['settings.changed', 'text.said', 'step.ended', 'turn.ended'])
  })

  it('shows nothing that an aborted tool still prints', async () => {
    const gate = createGate()
    const tool = aTool(
      'look',
      async (_, __, { begin, show }) => {
        await begin()
        await gate.pass()
        show('too late')
        return done
      },
      false,
    )
    const runtime = await openMemoryRuntime({ script: [[call('look', {})]], tools: [tool] })
    const frames = Array.fromAsync(runtime.handle.subscribe())
    await runtime.send('a', prompt)
    await gate.reached
    await runtime.send('stop', { type: 'abort' })
    gate.open()
    await runtime.registry.unload(aSession)
    expect(JSON.stringify(await frames)).not.toContain('too late')
  })

  it('calls no model when it comes while the request is built', async () => {
    const inner = createMemoryStore()
    const gate = createGate()
    let looks = 0 // the first read checks for damage before the prompt is accepted
    const isWindow = (types: readonly string[] | undefined) => types?.includes('user.said') === true && ++looks > 1
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        read: async (session, range) => {
          if (isWindow(range.types)) await gate.pass()
          return inner.read(session, range)
        },
      },
      script: [[say('Too late.')]],
    })
    await runtime.send('a', prompt)
    await gate.reached
    await runtime.send('stop', { type: 'abort' })
    gate.open()
    await runtime.registry.unload(aSession)
    expect(runtime.model.requests).toEqual([])
  })

  it('stops the work though the disk is full, and is recorded once it is not', async () => {
    const store = createFaultyStore(createMemoryStore())
    const gate = createGate()
    const runtime = await openMemoryRuntime({
      store,
      script: [[waitAt(gate)], [say('Next.')]],
    })
    await runtime.send('a', prompt)
    await gate.reached
    store.breakDown()
    expect(await runtime.send('stop', { type: 'abort' })).toEqual(refuse(diskFull))
    store.heal()
    const ended = runtime.frame(idle)
    runtime.clock.advance(500)
    expect(await ended).toMatchObject({ record: { event: { reason: 'aborted' } } })
  })

  it('that could not be recorded does not end the next turn', async () => {
    const store = createFaultyStore(createMemoryStore())
    const gates = [createGate(), createGate()] as const
    const runtime = await openMemoryRuntime({
      store,
      script: [[waitAt(gates[0])], [waitAt(gates[1]), say('Next.')]],
    })
    await runtime.send('a', prompt)
    await gates[0].reached
    store.breakDown()
    await runtime.send('stop', { type: 'abort' })
    store.heal()
    await runtime.handle.submit({ type: 'abort' })
    await runtime.send('b', prompt)
    await gates[1].reached
    runtime.clock.advance(500)
    gates[1].open()
    await runtime.frame(isRecord('text.said'))
  })
})

describe('a disk that refuses', () => {
  it('gets the result of an effect again until it accepts it', async () => {
    const inner = createMemoryStore()
    const full = refuse(diskFull)
    let refusals = 0
    const refused = createGate()
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        append: async (append) => {
          if (append.records.some(({ record }) => record.event.type === 'text.said') && refusals++ === 0) {
            void refused.pass()
            return full
          }
          return inner.append(append)
        },
      },
      script: [[say('Hi.')]],
    })
    await runtime.send('a', prompt)
    await refused.reached
    const ended = runtime.frame(idle)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    runtime.clock.advance(500)
    await ended
    expect(runtime.model.requests).toHaveLength(1)
  })

  it('and stored the batch anyway does not leave the session unusable', async () => {
    const inner = createMemoryStore()
    const full = refuse(diskFull)
    let lies = false
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        append: async (append) => {
          const appended = await inner.append(append)
          if (!lies) return appended
          lies = false
          return full
        },
      },
    })
    lies = true
    expect(await runtime.send('a', prompt)).toEqual(full)
    await runtime.frame(idle)
    expect(await runtime.send('a', prompt)).toMatchObject({ ok: true, value: { seq: 2 } })
  })

  it('stored the batch anyway and cannot be read does not leave the turn of the batch open', async () => {
    const inner = createMemoryStore()
    let lies = false
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        append: async (append) => {
          const appended = await inner.append(append)
          return lies ? refuse(diskFull) : appended
        },
        entry: (id) => (lies ? Promise.reject(new Error('It cannot be read.')) : inner.entry(id)),
      },
    })
    lies = true
    expect(await runtime.send('a', prompt)).toMatchObject({ fault: { code: 'storage_error' } })
    lies = false
    expect(await runtime.send('a', prompt)).toMatchObject({ ok: true, value: { seq: 2 } })
    expect(await runtime.frame(idle)).toMatchObject({ record: { event: { reason: 'interrupted' } } })
  })

  it('for a reason that does not pass ends the turn whose effect cannot be recorded', async () => {
    const inner = createMemoryStore()
    const broken = refuse(fault('internal', 'The store failed.'))
    let refusals = 0
    const refused = createGate()
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        append: async (append) => {
          if (append.records.some(({ record }) => record.event.type === 'text.said') && refusals++ === 0) {
            void refused.pass()
            return broken
          }
          return inner.append(append)
        },
      },
      script: [[say('Hi.')], [say('Again.')]],
    })
    await runtime.send('a', prompt)
    await refused.reached
    await stillness()
    expect(await runtime.frame(idle)).toMatchObject({ record: { event: { reason: 'interrupted' } } })
    await runtime.send('b', prompt)
    expect(await runtime.frame(isRecord('text.said'))).toMatchObject({ record: { event: { text: 'Again.' } } })
  })
})

describe('another owner', () => {
  it('takes over the session; the old owner can no longer write and ends its streams', async () => {
    const gate = createGate()
    const old = await openMemoryRuntime({ script: [[waitAt(gate), say('From the grave.')]] })
    await old.send('a', prompt)
    await gate.reached
    const end = old.frame(({ type }) => type === 'end')
    const next = await openMemoryRuntime({ store: old.store, takesOver: true, node: 'two' })
    await next.frame(idle)
    gate.open()
    expect(await end).toMatchObject({ reason: 'failed' })
    expect((await next.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
  })

  it('still has the unanswered question, and the turn continues with its answer', async () => {
    const tools = [aTool('touch', async (_, __, { begin }) => begin().then(() => done))]
    const old = await openMemoryRuntime({ script: [[call('touch', {})]], tools })
    await old.send('a', prompt)
    await old.frame(isRecord('approval.asked'))
    const next = await openMemoryRuntime({
      store: old.store,
      takesOver: true,
      node: 'two',
      tools,
      script: [[say('Done.')]],
    })
    expect(await next.send('b', approve)).toMatchObject({ ok: true })
    await next.frame(isRecord('text.said'))
  })

  it('recovers the draft of an answer that a crash cut short', async () => {
    const gate = createGate()
    const old = await openMemoryRuntime({ script: [[sayPartial('Half an ans'), waitAt(gate)]] })
    await old.send('a', prompt)
    await gate.reached
    old.clock.advance(1000)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    const next = await openMemoryRuntime({ store: old.store, takesOver: true, node: 'two' })
    expect(await next.frame(isRecord('text.said'))).toMatchObject({
      record: { event: { text: 'Half an ans', interrupted: true } },
    })
  })
})

describe('a session with a record that cannot be read', () => {
  it('refuses a prompt and names the record', async () => {
    const inner = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: inner, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    const store = {
      ...inner,
      read: async (...args: Parameters<typeof inner.read>) =>
        (await inner.read(...args)).map((record) => (record.seq === 3 ? { seq: 3, lost: true as const } : record)),
    }
    const registry = createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store })
    const refused = await createLocalSession(registry, aSession).submit(prompt)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'log_damaged', details: { lost: [3] } } })
    expect((await inner.entry(aSession))?.entry.meta.turnCount).toBe(1)
  })
})

describe('a call that is aborted', () => {
  it('adds a notice about a process that still runs', async () => {
    const leftRunning = 'sleep (17) left its group and still runs'
    const escaping = aTool('touch', async (_, __, { begin, signal }) => {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await begin()
      await aborted
      return { type: 'failed', output: { text: '' }, leftRunning }
    })
    const runtime = await openMemoryRuntime({ tools: [escaping], script: [[call('touch', {})]] })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    await runtime.send('b', approve)
    await runtime.frame(isRecord('call.started'))
    await runtime.send('stop', { type: 'abort' })
    const note = await runtime.frame(isRecord('note.added'))
    expect(note).toMatchObject({ record: { event: { code: 'left_running', level: 'error' } } })
  })
})

describe('a question with a deadline', () => {
  it('that expired while the session was unloaded is denied, whatever the answer', async () => {
    const store = createMemoryStore()
    const clock = createVirtualClock()
    const tools = [aTool('touch', async (_, __, { begin }) => begin().then(() => done))]
    const start = { approvalTimeoutMs: 1000 }
    const first = await openMemoryRuntime({
      store,
      clock,
      tools,
      start,
      script: [[call('touch', {})], [say('Never mind.')]],
    })
    await first.send('a', prompt)
    await first.frame(isRecord('approval.asked'))
    await first.registry.unload(aSession)
    clock.advance(2000)
    const next = await openMemoryRuntime({ store, clock, tools, script: [[say('Never mind.')]], takesOver: true })
    expect(await next.send('b', approve)).toMatchObject({ ok: false })
    await next.frame(idle)
    expect(await next.events()).not.toContain('call.started')
  })
})
