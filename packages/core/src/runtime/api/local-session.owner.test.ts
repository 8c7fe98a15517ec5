import { type Frame, orThrow, type SessionHandle } from '@holdfast/protocol'
import { aSession, createVirtualClock, isRecord, say, type TestRuntime } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createLocalSession } from './local-session.ts'

/** Two processes on one store: `one` owns the session, `two` wants it. */
let one: TestRuntime
let two: TestRuntime
let nodes: Map<string, SessionRegistry>
let living: string[]

beforeEach(async () => {
  nodes = new Map()
  living = ['one', 'two']
  const shared = { store: createMemoryStore(), others: nodes, living, clock: createVirtualClock() }
  one = await openMemoryRuntime({ ...shared, script: (_, index) => [say(`answer ${index}`)] })
  two = await openMemoryRuntime({
    ...shared,
    node: 'two',
    takesOver: true,
    script: (_, index) => [say(`second answer ${index}`)],
  })
  for (const { registry } of [one, two]) {
    await registry.deps.store.registerNode(registry.deps.node)
    nodes.set(registry.deps.node.id, registry)
  }
})

/** Ends a process at once: it answers no more. */
function kill(id: string): void {
  nodes.delete(id)
  living.splice(living.indexOf(id), 1)
}

/** Collects frames in the background. */
function collect(handle: SessionHandle, options: Parameters<SessionHandle['subscribe']>[0] = {}) {
  const frames: Frame[] = []
  const waiting = new Set<() => void>()
  const leave = new AbortController()
  const ended = (async () => {
    for await (const frame of handle.subscribe({ ...options, signal: leave.signal })) {
      frames.push(frame)
      for (const wake of waiting) wake()
    }
  })()
  return {
    frames,
    ended,
    leave: () => leave.abort(),
    seqs: () => frames.flatMap((frame) => (frame.type === 'record' ? [frame.record.seq] : [])),
    async until(fits: (frame: Frame) => boolean): Promise<Frame> {
      for (;;) {
        const found = frames.find(fits)
        if (found) return found
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
  }
}

const turnEnded = (turn: number) => (frame: Frame) =>
  frame.type === 'record' && frame.record.event.type === 'turn.ended' && frame.record.event.turn === turn

describe('a session that another process owns', () => {
  it('runs its commands there, and is not loaded here', async () => {
    await talkTo(two.handle).ask('hello')
    expect(await talkTo(two.handle).words()).toEqual(['hello', 'answer 0'])
    expect(two.registry.all()).toEqual([])
    expect(one.registry.loaded(aSession)).not.toBeNull()
  })

  it('answers reads as the owner does, with the clients attached there', async () => {
    const seat = orThrow(await one.handle.attach({ client: 'anna' }))
    const here = orThrow(await two.handle.state(['here'])).here
    expect(here?.clients).toEqual([{ client: 'anna', role: 'driver' }])
    expect(orThrow(await two.handle.snapshot())).toEqual(orThrow(await one.handle.snapshot()))
    await seat.detach()
  })

  it('has one driver across processes, and refuses the commands of a viewer', async () => {
    const driver = orThrow(await one.handle.attach({ client: 'anna', mayDrive: true }))
    const viewer = orThrow(await two.handle.attach({ client: 'ben' }))
    expect([driver.role, viewer.role]).toEqual(['driver', 'viewer'])
    expect(await viewer.submit({ type: 'rename', title: 'Mine' })).toMatchObject({ fault: { code: 'not_driver' } })
    expect(await two.handle.submit({ type: 'abort' }, { as: 'ben' })).toMatchObject({ fault: { code: 'not_driver' } })
    await driver.detach()
    expect(await viewer.submit({ type: 'claimDriver' })).toMatchObject({ fault: { code: 'not_driver' } }) // may not drive
    await viewer.detach()
    expect(orThrow(await one.handle.state(['here'])).here?.clients).toEqual([])
  })

  it('keeps the authority of a caller: one person takes over from itself, not from another', async () => {
    const open = (runtime: TestRuntime) => createLocalSession(runtime.registry, aSession)
    const caller = (person: string) => ({ person, mayDrive: true, isAdmin: false })
    const ada = orThrow(await open(one).attach({ client: 'ada', caller: caller('p1') }))
    const same = orThrow(await open(two).attach({ client: 'same', caller: caller('p1') }))
    const other = orThrow(await open(two).attach({ client: 'other', caller: caller('p2') }))
    expect(await other.submit({ type: 'claimDriver', takeOver: true })).toMatchObject({
      fault: { code: 'driver_taken' },
    })
    expect(await same.submit({ type: 'claimDriver', takeOver: true })).toMatchObject({ ok: true })
    for (const seat of [ada, same, other]) await seat.detach()
  })
})

describe('when the owner dies', () => {
  it('a stream goes on at its cursor, without a gap or a repeat, in the same role', async () => {
    const stream = collect(two.handle, { client: 'ben', mayDrive: true })
    await stream.until(({ type }) => type === 'presence')
    await talkTo(one.handle).ask('first')
    await stream.until(turnEnded(0))
    kill('one')
    one.registry.loaded(aSession)?.hub.end('failed', 500) // as the end of its connection
    const before = stream.frames.length
    await stream.until((frame) => frame.type === 'presence' && stream.frames.indexOf(frame) >= before)
    expect(await two.handle.submit({ type: 'sendPrompt', content: 'second' }, { as: 'ben' })).toMatchObject({
      ok: true,
    })
    await stream.until(turnEnded(1))
    const seqs = stream.seqs()
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
    expect(stream.frames.filter(({ type }) => type === 'snapshot')).toHaveLength(1)
    expect(two.registry.loaded(aSession)?.hub.drivers.roleOf('ben' as never)).toBe('driver')
    stream.leave()
    await stream.ended
  })

  it('a command that it may have taken is answered by the same command id, once', async () => {
    const command = { type: 'sendPrompt', content: 'once' } as const
    const first = orThrow(await two.handle.submit(command, { commandId: 'c1' }))
    await one.frame(isRecord('turn.ended'))
    kill('one')
    expect(await two.handle.submit(command, { commandId: 'c1' })).toEqual({ ok: true, value: first })
    expect((await two.events()).filter((type) => type === 'user.said')).toHaveLength(1)
  })

  it('a seat is taken again at the next owner', async () => {
    const seat = orThrow(await two.handle.attach({ client: 'ben', mayDrive: true }))
    kill('one')
    expect(await seat.submit({ type: 'rename', title: 'Ours' })).toMatchObject({ ok: true })
    expect(two.registry.loaded(aSession)?.hub.drivers.all).toEqual([{ client: 'ben', role: 'driver' }])
    await seat.detach()
    expect(two.registry.loaded(aSession)?.hub.drivers.all).toEqual([])
  })
})

describe('an owner that was paused', () => {
  it('is refused its appends, says so, and sends its clients to the new owner', async () => {
    const stream = collect(one.handle)
    await stream.until(({ type }) => type === 'snapshot')
    const news = one.registry.news.follow()[Symbol.asyncIterator]()
    const stopped = news.next()
    living.splice(living.indexOf('one'), 1)
    nodes.delete('one')
    await talkTo(two.handle).send({ type: 'rename', title: 'Taken' })
    living.push('one')
    nodes.set('one', one.registry)
    expect(await one.handle.submit({ type: 'enterPlan' }, { commandId: 'late' })).toMatchObject({ ok: true })
    expect((await stopped).value).toMatchObject({ type: 'session.stopped', session: aSession, reason: 'taken_over' })
    expect(one.registry.loaded(aSession)).toBeNull()
    await stream.until(
      (frame) =>
        frame.type === 'record' && frame.record.event.type === 'settings.changed' && frame.record.event.mode === 'plan',
    )
    const seqs = stream.seqs()
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
    stream.leave()
    await stream.ended
  })

  it('learns it from the store before it writes', async () => {
    living.splice(living.indexOf('one'), 1)
    nodes.delete('one')
    await talkTo(two.handle).send({ type: 'rename', title: 'Taken' })
    expect(await one.registry.dropLost()).toBe(1)
    expect(await one.registry.dropLost()).toBe(0)
    expect(one.registry.all()).toEqual([])
  })

  it('keeps the sessions that nobody took', async () => {
    expect(await one.registry.dropLost()).toBe(0)
    expect(one.registry.all()).toHaveLength(1)
  })
})

it('refuses with session_locked if the owner lives and cannot be reached', async () => {
  const clock = two.clock
  nodes.delete('one') // alive by its answer, and no connection
  const answer = two.handle.submit({ type: 'enterPlan' })
  let isDone = false
  void answer.then(() => {
    isDone = true
  })
  while (!isDone) {
    await clock.advance(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await answer).toMatchObject({ fault: { code: 'session_locked', details: { node: 'one', since: '' } } })
})
