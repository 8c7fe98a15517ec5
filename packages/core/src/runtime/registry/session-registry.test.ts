import { CommandId, HoldfastError, ok, refuse, SessionId, type SessionNews } from '@holdfast/protocol'
import {
  aSession,
  createGate,
  createVirtualClock,
  diskFull,
  isRecord,
  say,
  type VirtualClock,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../ports/observer.ts'
import type { Store } from '../../ports/store/store.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'
import { loadSession } from '../log/load-session.ts'
import { createSessionRegistry, type SessionRegistry } from './session-registry.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const idle = isRecord('turn.ended')

describe('the registry', () => {
  it('does not unload a session while its turn runs', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    runtime.clock.advance(60 * 60_000)
    expect(runtime.registry.loaded(aSession)).not.toBeNull()
  })

  it('does not unload a session while a command runs in its background, and ends the command with it', async () => {
    const running = new Set(['dev'])
    const ended: (string | undefined)[] = []
    let changed: (id: SessionId) => void = () => undefined
    const runtime = await openMemoryRuntime({
      script: [[say('Hi.')], [say('Again.')]],
      background: {
        running: () => [...running].map((id) => ({ id, command: 'npm run dev', startedAt: 0 })),
        look: async () => undefined,
        news: () => null,
        list: async () => [],
        stop: async () => ok(null),
        onChange: (listener) => {
          changed = listener
        },
        end: async (id) => void ended.push(id),
        endLeftovers: async () => undefined,
      },
    })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.send('b', { type: 'abort' })
    runtime.clock.advance(60 * 60_000)
    expect(runtime.registry.loaded(aSession)).not.toBeNull()
    expect(ended).toEqual([]) // an abort leaves it running
    running.clear()
    changed(aSession)
    runtime.clock.advance(60 * 60_000)
    expect(runtime.registry.loaded(aSession)).toBeNull()
    await runtime.registry.load(aSession)
    expect(ended).toContain(aSession)
    await runtime.registry.close()
    expect(ended.at(-1)).toBeUndefined()
  })

  it('unloads an idle session without records of its own, and keeps it until it stops', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    const { registry, store, clock } = runtime
    const rest = async () => {
      clock.advance(60 * 60_000)
      expect(registry.loaded(aSession)).toBeNull()
      await registry.runAlone(aSession, async () => undefined) // until it is unloaded
    }
    await rest()
    expect(await store.entry(aSession)).toMatchObject({ owner: registry.deps.node.id, entry: { spoken: false } })
    expect((await registry.load(aSession)).ok).toBe(true)
    await rest()
    await registry.unload(aSession)
    expect(await store.entry(aSession)).toBeNull()
    expect(await registry.load(aSession)).toMatchObject({ fault: { code: 'session_not_found' } })
  })

  it('removes an idle session without records of its own when it closes', async () => {
    const { registry, store, clock } = await openMemoryRuntime({ script: [] })
    clock.advance(60 * 60_000)
    expect(registry.loaded(aSession)).toBeNull()
    await registry.close()
    expect(await store.entry(aSession)).toBeNull()
  })

  it('loads a session once for concurrent requests', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    const loaded = await Promise.all([1, 2, 3].map(() => runtime.registry.load(aSession)))
    expect(new Set(loaded.map((one) => one.ok && one.value)).size).toBe(1)
  })

  it('reads a session again if a record was appended during the claim', async () => {
    const one = await openMemoryRuntime({ script: [[say('Hi.')], [say('Again.')]] })
    await one.send('a', prompt)
    await one.frame(idle)
    const early = await loadSession(one.store, aSession)
    await one.send('b', prompt)
    await one.frame(idle)
    await one.registry.unload(aSession)
    const two = createSessionRegistry({ ...one.registry.deps, node: { ...one.registry.deps.node, id: 'two' } })
    const loaded = await two.load(aSession, Promise.resolve(early))
    const head = (await one.store.entry(aSession))?.head
    expect(early.ok && early.value.state.seq).toBeLessThan(head ?? 0)
    expect(loaded.ok && loaded.value.folded().state.seq).toBe(head)
  })

  it('loads a session even if the read during the claim failed', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    expect((await runtime.registry.load(aSession, Promise.reject(new Error('torn')))).ok).toBe(true)
  })

  it('keeps a session that was loaded again while it was being unloaded', async () => {
    const inner = createMemoryStore()
    const stopping = createGate()
    let isStopping = false
    const running = createGate()
    const runtime = await openMemoryRuntime({
      store: {
        ...inner,
        async append(append) {
          if (isStopping) {
            isStopping = false
            await stopping.pass()
          }
          return inner.append(append)
        },
      },
      script: [[waitAt(running)]],
    })
    const { registry } = runtime
    await runtime.send('a', prompt)
    await running.reached
    isStopping = true
    const unloaded = registry.unload(aSession)
    await stopping.reached
    const again = await registry.load(aSession)
    stopping.open() // the append of the old owner is refused
    await unloaded
    expect(registry.loaded(aSession)).toBe(again.ok && again.value)
  })

  it('removes a session without a prompt', async () => {
    const runtime = await openMemoryRuntime()
    await runtime.registry.unload(aSession)
    expect(await runtime.registry.load(aSession)).toMatchObject({ fault: { code: 'session_not_found' } })
  })

  it('settles the running calls of a dead node, and keeps its questions open', async () => {
    const gate = createGate()
    const dead = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await dead.store.registerNode(dead.registry.deps.node)
    await dead.send('a', prompt)
    await gate.reached
    const next = await openMemoryRuntime({ store: dead.store, takesOver: true, node: 'two' })
    await next.registry.settleCrashed()
    expect((await next.events()).slice(-2)).toEqual(['step.ended', 'turn.ended'])
    expect(await next.store.nodes()).toEqual([])
  })

  it('settles the sessions of a node that is no longer registered', async () => {
    const gate = createGate()
    const lost = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await lost.send('a', prompt)
    await gate.reached
    expect(await lost.store.nodes()).toEqual([])
    const next = await openMemoryRuntime({ store: lost.store, takesOver: true, node: 'two' })
    await next.registry.settleCrashed()
    expect((await next.events()).at(-1)).toBe('turn.ended')
  })

  it('refuses a session that another live process owns', async () => {
    const one = await openMemoryRuntime()
    await one.store.registerNode(one.registry.deps.node)
    const two = await openMemoryRuntime({ store: one.store, takesOver: true, node: 'two', living: ['one', 'two'] })
    expect(await two.registry.load(aSession)).toMatchObject({
      fault: { code: 'session_locked', details: { node: 'one' } },
    })
  })

  it('loads no session while it closes, and releases all of them', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.close()
    expect(await runtime.registry.load(aSession)).toMatchObject({ fault: { code: 'session_stopped' } })
    expect((await runtime.store.entry(aSession))?.owner).toBeNull()
  })
})

describe('a session that crashes', () => {
  const other = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvx')
  const bug = new Error('the fold is wrong')
  const plan = { type: 'enterPlan' } as const

  /** Opens two sessions; while `breaks` is set, appends of the first one throw. */
  async function openTwo() {
    const inner = createMemoryStore()
    const published: SessionNews[] = []
    let breaks = false
    const store: Store = {
      ...inner,
      append: (append) => (breaks && append.session === aSession ? Promise.reject(bug) : inner.append(append)),
    }
    const setBreaks = (now: boolean) => {
      breaks = now
    }
    const ids = [aSession, other]
    const { deps } = (await openMemoryRuntime({ store: createMemoryStore() })).registry
    const newSessionId = () => ids.shift() ?? other
    const newHandle = () => `calm-harbor-${ids.length}`
    const registry = createSessionRegistry({ ...deps, store, memoryStore: store, newSessionId, newHandle })
    const collect = async () => {
      for await (const news of registry.news.follow()) published.push(news)
    }
    void collect()
    for (const _ of [1, 2]) await registry.start({ workdir: '/work' })
    const handles = [createLocalSession(registry, aSession), createLocalSession(registry, other)] as const
    return { handles, registry, published, setBreaks }
  }

  it('is restarted from its log without effect on other sessions', async () => {
    const { handles, setBreaks } = await openTwo()
    setBreaks(true)
    expect(await handles[0].submit(plan)).toMatchObject({ fault: { code: 'internal' } })
    expect(await handles[1].submit(plan)).toMatchObject({ ok: true })
    setBreaks(false)
    expect(await handles[0].submit(plan)).toMatchObject({ ok: true })
  })

  it('is stopped with the first cause when it keeps crashing, while others continue', async () => {
    const { handles, registry, published, setBreaks } = await openTwo()
    setBreaks(true)
    for (const _ of [1, 2, 3, 4]) await handles[0].submit(plan)
    expect(await handles[0].submit(plan)).toMatchObject({
      fault: {
        code: 'session_stopped',
        details: { reason: 'restart_exhausted', cause: expect.stringMatching(/the fold is wrong/) },
      },
    })
    expect(await handles[1].submit(plan)).toMatchObject({ ok: true })
    await registry.close()
    const ends = published.flatMap((news) =>
      news.type === 'session.stopped' ? [`${news.session} ${news.reason}`] : [],
    )
    expect(ends).toContain(`${aSession} restart_exhausted`)
    expect(ends).not.toContain(`${other} crashed`)
  })
})

describe('a session whose process died', () => {
  it('is reported as crashed by the node that takes it over', async () => {
    const gate = createGate()
    const dead = await openMemoryRuntime({ script: [[waitAt(gate)]] })
    await dead.send('a', prompt)
    await gate.reached
    const next = await openMemoryRuntime({ store: dead.store, takesOver: true, node: 'two' })
    const news = next.registry.news.follow()[Symbol.asyncIterator]()
    const first = news.next()
    await next.registry.load(aSession)
    expect((await first).value).toMatchObject({ type: 'session.stopped', session: aSession, reason: 'crashed' })
  })
})

describe('a registry whose disk fails', () => {
  const full = new HoldfastError(diskFull)
  const soon = () => new Promise<void>((resolve) => void setImmediate(resolve))

  /** Opens a registry with an unloaded session, on a store that a test can break. */
  async function openBroken(broken: (inner: Store) => Partial<Store>): Promise<Broken> {
    const inner = createMemoryStore()
    const runtime = await openMemoryRuntime({ store: inner, script: [[say('Hi.')]] })
    await runtime.send('a', prompt)
    await runtime.frame(idle)
    await runtime.registry.unload(aSession)
    const problems: Problem[] = []
    const clock = createVirtualClock()
    const store = { ...inner, ...broken(inner) }
    const onProblem = (problem: Problem) => void problems.push(problem)
    return {
      registry: createSessionRegistry({ ...runtime.registry.deps, store, memoryStore: store, clock, onProblem }),
      inner,
      clock,
      problems,
    }
  }
  type Broken = {
    readonly registry: SessionRegistry
    readonly inner: Store
    readonly clock: VirtualClock
    readonly problems: Problem[]
  }

  it('still unloads an idle session, and reports the failure', async () => {
    const { registry, clock, problems } = await openBroken(() => ({ release: () => Promise.reject(full) }))
    await registry.load(aSession)
    clock.advance(15 * 60_000)
    await soon()
    expect(registry.loaded(aSession)).toBeNull()
    expect(problems).toEqual([{ where: `unloading ${aSession}`, cause: full }])
  })

  it('releases a session even if its snapshot cannot be saved', async () => {
    const gate = createGate()
    const inner = createMemoryStore()
    const problems: Problem[] = []
    const runtime = await openMemoryRuntime({ store: inner, script: [[waitAt(gate)]] })
    const store = { ...inner, saveSnapshot: () => Promise.reject(full) }
    await runtime.send('a', prompt)
    await gate.reached
    const next = { id: 'two', address: '', startedAt: '' }
    const onProblem = (problem: Problem) => void problems.push(problem)
    const registry = createSessionRegistry({
      ...runtime.registry.deps,
      store,
      node: next,
      isAlive: async () => false,
      onProblem,
    })
    await registry.load(aSession)
    await registry.unload(aSession)
    expect((await inner.entry(aSession))?.owner).toBeNull()
    expect(problems).toEqual([{ where: `snapshot of ${aSession}`, cause: full }])
  })

  it('reports a failure to load a session again after its log moved', async () => {
    let lies = false
    const { registry, problems } = await openBroken((inner) => ({
      async append(append) {
        const appended = await inner.append(append)
        return lies ? refuse(diskFull) : appended
      },
      claim: (...args) => (lies ? Promise.reject(full) : inner.claim(...args)),
    }))
    const loaded = await registry.load(aSession)
    lies = true
    const command = { type: 'enterPlan' } as const
    if (loaded.ok) await loaded.value.submit({ commandId: CommandId.parse('b'), by: null, command })
    await soon()
    expect(problems).toEqual([{ where: `loading ${aSession} again`, cause: diskFull }])
  })

  it('starts even if a session cannot be settled', async () => {
    const { registry, problems } = await openBroken(() => ({
      busy: async () => [{ session: aSession, owner: null }],
      loadSnapshot: () => Promise.reject(full),
    }))
    expect(await registry.settleCrashed()).toEqual([])
    expect(problems).toEqual([{ where: `settling ${aSession}`, cause: diskFull }])
  })

  it('releases all sessions and removes its node when it closes', async () => {
    const { registry, inner, problems } = await openBroken(() => ({ release: () => Promise.reject(full) }))
    await inner.registerNode(registry.deps.node)
    await registry.load(aSession)
    await registry.close()
    expect([registry.all(), await inner.nodes()]).toEqual([[], []])
    expect(problems).toEqual([{ where: `unloading ${aSession}`, cause: full }])
  })
})
