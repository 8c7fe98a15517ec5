import { type Frame, limits, orThrow, SessionId } from '@holdfast/protocol'
import { aSession, createGate, isRecord, modelsWith, say, sayPartial, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Models, Provider } from '../../ports/provider.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createSessionRegistry } from '../registry/session-registry.ts'
import { createLocalSession } from './local-session.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const take = async (frames: AsyncIterable<Frame>, isLast: (frame: Frame) => boolean) => {
  const taken: Frame[] = []
  for await (const frame of frames) {
    taken.push(frame)
    if (isLast(frame)) break
  }
  return taken
}
const idle = isRecord('turn.ended')
const types = (frames: readonly Frame[]) => frames.map(({ type }) => type)

describe('clients that come back with the same cursor', () => {
  it('get the same frames of one read, and others their own', async () => {
    const given = createMemoryStore()
    let reads = 0
    const store: Store = {
      ...given,
      read: (...asked) => {
        reads += 1
        return given.read(...asked)
      },
    }
    const runtime = await openMemoryRuntime({ store, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    reads = 0
    const back = (after: number) => take(runtime.handle.subscribe({ after }), idle)
    const [one, two, other] = await Promise.all([back(1), back(1), back(3)])
    expect(reads).toBe(2)
    expect(two.map((frame, index) => frame === one[index])).toEqual(one.map(() => true))
    expect(other).toEqual(one.slice(2))
  })
})

describe('a subscription', () => {
  it('begins with a snapshot', async () => {
    const runtime = await openMemoryRuntime()
    const [first] = await take(runtime.handle.subscribe(), () => true)
    expect(first).toMatchObject({ type: 'snapshot', seq: 1, messages: [], before: null })
  })

  it('to an unloaded session reads its snapshot during the claim, and a draft only if an answer was cut off', async () => {
    const given = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: given, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    const asked: string[] = []
    const hasRead = Promise.withResolvers<void>()
    const store: Store = {
      ...given,
      async claim(...parameters) {
        await hasRead.promise
        asked.push('claim')
        return given.claim(...parameters)
      },
      read(...parameters) {
        asked.push('read')
        hasRead.resolve()
        return given.read(...parameters)
      },
      loadSnapshot(...parameters) {
        asked.push('loadSnapshot')
        return given.loadSnapshot(...parameters)
      },
      loadDraft(...parameters) {
        asked.push('loadDraft')
        return given.loadDraft(...parameters)
      },
    }
    const registry = createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store })
    const [first] = await take(createLocalSession(registry, aSession).subscribe(), () => true)
    const shown = await runtime.handle.page()
    expect(first?.type === 'snapshot' && first.messages).toEqual(shown.ok && shown.value.messages)
    expect(asked.slice(0, 3)).toEqual(['loadSnapshot', 'read', 'claim'])
    expect(asked.slice(3)).not.toContain('loadSnapshot')
    expect(asked).not.toContain('loadDraft')
  })

  it('shows the trust of the workspace, including trust granted during the claim', async () => {
    const given = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: given, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const other = orThrow(await runtime.registry.start({ workdir: '/work' }))
    await runtime.registry.unload(aSession)
    const hasRead = Promise.withResolvers<void>()
    const store: Store = {
      ...given,
      async claim(...parameters) {
        await hasRead.promise
        const trust = { type: 'setToolTrust', tool: 'mcp__files__touch', scope: 'workspace' } as const
        orThrow(await createLocalSession(runtime.registry, other.id).submit(trust))
        return given.claim(...parameters)
      },
      read(...parameters) {
        hasRead.resolve()
        return given.read(...parameters)
      },
    }
    const registry = createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store })
    const [first] = await take(createLocalSession(registry, aSession).subscribe(), () => true)
    expect(first).toMatchObject({ here: { workspaceTrust: [{ tool: 'mcp__files__touch', scope: 'workspace' }] } })
  })

  it('shows the latest state when a prompt is sent during the claim', async () => {
    const given = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: given, script: [[say('Hi.')], [say('Again.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    let isLate = true
    const store: Store = {
      ...given,
      async claim(...parameters) {
        if (isLate) {
          isLate = false
          await runtime.send('b', prompt)
          await runtime.frame(idle)
          await runtime.registry.unload(aSession)
        }
        return given.claim(...parameters)
      },
    }
    const node = { ...runtime.registry.deps.node, id: 'two' }
    const registry = createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store, node })
    const [first] = await take(createLocalSession(registry, aSession).subscribe(), () => true)
    const head = (await given.entry(aSession))?.head
    const shown = await runtime.handle.page()
    expect(first).toMatchObject({ seq: head, messages: shown.ok && shown.value.messages })
  })

  it('with a cursor gets exactly the records it missed, then live ones', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const missed = await take(runtime.handle.subscribe({ after: 3 }), idle)
    const seqs = missed.map((frame) => (frame.type === 'record' ? frame.record.seq : frame.type))
    expect(seqs).toEqual([4, 5, 6, 7, 8])
  })

  it('with a cursor holds one page of bounded size, however far behind it is', async () => {
    const store = createMemoryStore()
    const pages: number[] = []
    const counting: Store = {
      ...store,
      async read(...given) {
        const page = await store.read(...given)
        pages.push(JSON.stringify(page).length)
        return page
      },
    }
    const runtime = await openMemoryRuntime({ store: counting })
    const recordChars = 100_000
    const records = 40
    for (let each = 0; each < records; each++)
      await runtime.send(`${each}`, {
        type: 'seedMessages',
        messages: [{ role: 'user', content: 'x'.repeat(recordChars) }],
      })
    const head = runtime.registry.loaded(aSession)?.folded().state.seq ?? 0
    pages.length = 0
    const frames = runtime.handle.subscribe({ after: 1 })[Symbol.asyncIterator]()
    await frames.next()
    expect(pages).toHaveLength(1) // it has read no further than its client
    for (let seq = 3; seq <= head; seq++)
      expect((await frames.next()).value).toMatchObject({ type: 'record', record: { seq } })
    await frames.return?.()
    expect(Math.max(...pages)).toBeLessThan(limits.frameBufferBytesMax / 2)
    expect(pages.length).toBeGreaterThanOrEqual((records * recordChars) / (limits.frameBufferBytesMax / 2))
  })

  it('with a cursor from the future gets a resync', async () => {
    const runtime = await openMemoryRuntime()
    expect(types(await take(runtime.handle.subscribe({ after: 99 }), ({ type }) => type === 'snapshot'))).toEqual([
      'resync',
      'snapshot',
    ])
  })

  it('that starts during an answer gets its text so far', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[sayPartial('Hello th'), waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    const frames = await take(runtime.handle.subscribe(), ({ type }) => type === 'draft')
    expect(frames.at(-1)).toMatchObject({ type: 'draft', parts: [{ kind: 'text', text: 'Hello th' }] })
  })

  it('ends when its signal is aborted, even before it starts', async () => {
    const runtime = await openMemoryRuntime()
    const [before, after] = [new AbortController(), new AbortController()]
    before.abort()
    expect(types(await Array.fromAsync(runtime.handle.subscribe({ signal: before.signal })))).toEqual(['snapshot'])
    const following = Array.fromAsync(runtime.handle.subscribe({ signal: after.signal }))
    await new Promise<void>((resolve) => void setImmediate(resolve))
    after.abort()
    expect(types(await following)).toEqual(['snapshot'])
    expect(runtime.registry.loaded(aSession)?.hub.size).toBe(0)
  })

  it('that reads too slowly reconnects by itself and misses nothing', async () => {
    const inner = createGate()
    const runtime = await openMemoryRuntime({ script: [[waitAt(inner), say('Hi.')]] })
    const frames = runtime.handle.subscribe({ after: 1 })[Symbol.asyncIterator]()
    const first = frames.next()
    await runtime.send('a', prompt)
    await inner.reached
    // Queued during the turn: together they exceed the buffer.
    const large = { type: 'sendPrompt', content: 'x'.repeat(limits.frameBufferBytesMax / 2) } as const
    for (const id of ['b', 'c', 'd']) await runtime.send(id, large)
    const { seq } = runtime.registry.loaded(aSession)?.folded().state ?? { seq: 0 }
    const seen: number[] = []
    for (let next = await first; !next.done; next = await frames.next()) {
      if (next.value.type === 'end') break
      if (next.value.type === 'record') seen.push(next.value.record.seq)
      if (seen.at(-1) === seq) break
    }
    expect(seen).toEqual(Array.from({ length: seq - 1 }, (_, index) => index + 2))
  })

  it('that reads too slowly ends if its server asks for that, which then goes on at its cursor', async () => {
    const inner = createGate()
    const runtime = await openMemoryRuntime({ script: [[waitAt(inner), say('Hi.')]] })
    const frames = createLocalSession(runtime.registry, aSession).subscribe({ after: 1, endsWhenSlow: true })
    const following = frames[Symbol.asyncIterator]()
    const first = following.next()
    await runtime.send('a', prompt)
    await inner.reached
    const large = { type: 'sendPrompt', content: 'x'.repeat(limits.frameBufferBytesMax / 2) } as const
    for (const id of ['b', 'c', 'd']) await runtime.send(id, large)
    const seen: Frame[] = []
    for (let next = await first; !next.done; next = await following.next()) seen.push(next.value)
    expect(seen.at(-1)).toEqual({ type: 'end', sessionId: aSession, reason: 'slow', retryMs: 0 })
  })

  it('is ended with a reason when the session is unloaded', async () => {
    const runtime = await openMemoryRuntime()
    const following = take(runtime.handle.subscribe(), ({ type }) => type === 'end')
    await new Promise<void>((resolve) => void setImmediate(resolve))
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    expect((await following).at(-1)).toMatchObject({ type: 'end', reason: 'stopped' })
  })
})

describe('the handle', () => {
  it('refuses an invalid command and says what is wrong with it', async () => {
    const runtime = await openMemoryRuntime()
    // A program without types may send anything.
    const answer = await runtime.handle.submit({ type: 'sendPrompt' } as never)
    expect(answer).toMatchObject({
      ok: false,
      fault: { code: 'bad_request', message: expect.stringContaining('content') },
    })
  })

  it('refuses malformed ids', async () => {
    const runtime = await openMemoryRuntime()
    for (const options of [{ commandId: 'no spaces' }, { as: 'x'.repeat(65) }, { commandId: '' }])
      expect(await runtime.handle.submit(prompt, options)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(await runtime.events()).toEqual(['session.started'])
  })

  it('reads an unloaded session without loading it, with the same result', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const loaded = await runtime.handle.snapshot()
    await runtime.registry.unload(aSession)
    expect(await runtime.handle.snapshot()).toEqual(loaded)
    expect(runtime.registry.loaded(aSession)).toBeNull()
  })
})

describe('a session without clients', () => {
  it('reads all messages of an unloaded session with one load of its state, and reads ahead', async () => {
    const given = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: given })
    const messages = Array.from({ length: limits.seedMessagesMax }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `word ${index}`,
    }))
    for (const name of ['a', 'b', 'c']) await runtime.send(name, { type: 'seedMessages', messages })
    await runtime.registry.unload(aSession)
    const asked: string[] = []
    const store: Store = {
      ...given,
      async read(...parameters) {
        asked.push('read')
        return given.read(...parameters)
      },
      loadSnapshot(...parameters) {
        asked.push('loadSnapshot')
        return given.loadSnapshot(...parameters)
      },
    }
    const registry = createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store })
    const handle = createLocalSession(registry, aSession)
    const readBefore: number[] = []
    let count = 0
    for await (const list of handle.messages?.() ?? []) {
      readBefore.push(asked.length)
      for (const message of orThrow(list)) expect(message).toMatchObject({ text: `word ${count++ % messages.length}` })
    }
    expect(count).toBe(3 * messages.length)
    expect(asked.filter((name) => name === 'loadSnapshot')).toHaveLength(1)
    expect(readBefore.every((reads, page) => reads >= page + 2)).toBe(true) // the next page is being read already
    expect(registry.loaded(aSession)).toBeNull()
  })

  it('is unloaded after 15 minutes, and looks the same when it is loaded again', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')], [say('Again.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const before = await runtime.handle.snapshot()
    await new Promise<void>((resolve) => void setImmediate(resolve))
    runtime.clock.advance(15 * 60_000)
    expect(runtime.registry.loaded(aSession)).toBeNull()
    expect(await runtime.handle.snapshot()).toEqual(before)
    await runtime.send('b', prompt)
    await runtime.frame((frame) => idle(frame) && frame.type === 'record' && frame.record.seq > 8)
  })
})

describe('a command sent while the session is unloaded', () => {
  it('is accepted after the session was loaded again', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')], [say('Again.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const sent = runtime.send('b', { type: 'enterPlan' })
    const unloaded = runtime.registry.unload(aSession)
    expect(await sent).toMatchObject({ ok: true })
    await unloaded
    expect(await runtime.events()).toContain('settings.changed')
  })
})

describe('the unrecorded part of a snapshot', () => {
  it('has the attached clients with their roles, and whether the model can be called', async () => {
    const runtime = await openMemoryRuntime({
      models: modelsWith(() => ({ type: 'no_credentials', message: 'no key' })),
    })
    const frames = runtime.handle.subscribe({ client: 'editor' })[Symbol.asyncIterator]()
    await frames.next()
    expect(await runtime.handle.snapshot()).toMatchObject({
      value: { here: { clients: [{ client: 'editor', role: 'driver' }], credentialsConfigured: false } },
    })
    await frames.return?.(undefined)
  })

  it('has the context size of the model, if it is known', async () => {
    const contextOf = async (models: Models) => {
      const { handle } = await openMemoryRuntime({ models })
      const snapshot = await handle.snapshot()
      return snapshot.ok ? snapshot.value.here?.contextTokens : snapshot
    }
    const provider: Provider = { async *stream() {} }
    expect(await contextOf(modelsWith(() => ({ type: 'ready', provider, contextTokens: 32_000 })))).toBe(32_000)
    expect(await contextOf(modelsWith(() => ({ type: 'ready', provider })))).toBeNull()
    expect(await contextOf(modelsWith(() => ({ type: 'no_credentials', message: 'no key' })))).toBeNull()
  })
})

describe('the state of a session', () => {
  it('is read without its transcript, loaded or not, and is that of the snapshot', async () => {
    const given = createMemoryStore()
    const reads: (number | undefined)[] = []
    const read: Store['read'] = (id, range) => {
      reads.push(range.upTo)
      return given.read(id, range)
    }
    const runtime = await openMemoryRuntime({ store: { ...given, read }, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    const { view, meta, seq, here } = orThrow(await runtime.handle.snapshot())
    const fields = ['status', 'pins', 'meta', 'seq', 'here'] as const
    reads.length = 0
    const loaded = orThrow(await runtime.handle.state(fields))
    expect(reads).toEqual([])
    expect(loaded).toEqual({ status: view.status, pins: view.pins, meta, seq, here })
    await runtime.registry.unload(aSession)
    reads.length = 0
    expect(orThrow(await runtime.handle.state(['meta']))).toEqual({ meta })
    expect(reads.length).toBeLessThanOrEqual(1) // the records after the stored snapshot
  })

  it('refuses a session that does not exist', async () => {
    const runtime = await openMemoryRuntime()
    const missing = createLocalSession(runtime.registry, SessionId.parse('ses_00000000000000000000000000'))
    expect(await missing.state(['status'])).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
    expect(await missing.clientEvents()).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
  })
})
