import { type Frame, fault, HoldfastError, type SessionHandle } from '@holdfast/protocol'
import { aSession, createVirtualClock, say, type TestRuntime } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'

/** Two processes on one store: `one` owns the session. `two` may lose the store. */
let one: TestRuntime
let two: TestRuntime
let nodes: Map<string, SessionRegistry>
let living: string[]
let isAway: boolean

const away = () => new HoldfastError(fault('storage_error', 'The store does not answer.', { reason: 'unreachable' }))

const whileThere =
  <Given extends readonly unknown[], Value>(read: (...given: Given) => Promise<Value>) =>
  async (...given: Given): Promise<Value> => {
    if (isAway) throw away()
    return read(...given)
  }

beforeEach(async () => {
  nodes = new Map()
  living = ['one', 'two']
  isAway = false
  const store = createMemoryStore()
  const shared = { others: nodes, living, clock: createVirtualClock(), script: () => [say('yes')] }
  const lost: Store = {
    ...store,
    entry: whileThere(store.entry),
    nodes: whileThere(store.nodes),
    read: whileThere(store.read),
  }
  one = await openMemoryRuntime({ ...shared, store })
  two = await openMemoryRuntime({ ...shared, store: lost, node: 'two', takesOver: true })
  for (const { registry } of [one, two]) {
    await store.registerNode(registry.deps.node)
    nodes.set(registry.deps.node.id, registry)
  }
})

/** Lets `two` take `one` for dead, which runs on. */
function cutOff(): void {
  nodes.delete('one')
  living.splice(living.indexOf('one'), 1)
}

/** Returns the frames of a stream until it ends, or until one fits. */
async function frames(handle: SessionHandle, after: number, fits: (frame: Frame) => boolean = () => false) {
  const seen: Frame[] = []
  for await (const frame of handle.subscribe({ after })) {
    seen.push(frame)
    if (fits(frame)) break
  }
  return seen
}

describe('a session of another process, while the store cannot be read', () => {
  it('refuses commands and reads, and throws nothing', async () => {
    isAway = true
    const refused = { ok: false, fault: { code: 'storage_error' } }
    expect(await two.handle.submit({ type: 'rename', title: 'New' })).toMatchObject(refused)
    expect(await two.handle.snapshot()).toMatchObject(refused)
    expect(await two.handle.attach({ client: 'anna' })).toMatchObject(refused)
  })

  it('ends a stream with the reason and the time to follow it again', async () => {
    isAway = true
    expect((await frames(two.handle, 0)).map(({ type }) => type)).toEqual(['storage', 'end'])
  })

  it('ends a stream whose past cannot be read', async () => {
    cutOff()
    await talkTo(two.handle).ask('hello') // `two` runs it now
    isAway = true
    const seen = await frames(two.handle, 0)
    expect(seen.at(-1)).toMatchObject({ type: 'end', reason: 'failed', retryMs: expect.any(Number) })
  })
})

describe('a session that was taken over from a process that does not know it', () => {
  it('is followed there from the cursor, and never shown as it was', async () => {
    await talkTo(one.handle).ask('hello')
    cutOff()
    await talkTo(two.handle).ask('and you?')
    const head = (await two.store.entry(aSession))?.head ?? 0
    expect(one.registry.loaded(aSession)?.folded().state.seq).toBeLessThan(head)

    const seen = await frames(one.handle, head, ({ type }) => type === 'storage' || type === 'snapshot')
    expect(seen.map(({ type }) => type)).toEqual(['storage'])
  })
})
