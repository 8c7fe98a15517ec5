import {
  createLocalSession,
  createSessionRegistry,
  type LocalSession,
  loadSession,
  type SessionRegistry,
} from '@holdfast/core'
import type { ModelPart, Models, SaidPart, Store, Tools } from '@holdfast/core/ports'
import {
  type FileChange,
  InvariantViolation,
  invariant,
  ok,
  orThrow,
  type Recorded,
  SessionId,
} from '@holdfast/protocol'
import {
  aSubagentTool,
  aTool,
  createDice,
  createVirtualClock,
  type Dice,
  fakeFiles,
  fakePermissions,
  modelsWith,
  scriptedUsage,
} from '@holdfast/testkit'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { createCrashingStore, type Disk } from './crashing-store.ts'
import { createRandomHooks } from './random-hooks.ts'
import { createScheduler, type Life, type Scheduler, settlePromises } from './scheduler.ts'

const actionsMax = 120

type World = {
  readonly dice: Dice
  readonly clock: ReturnType<typeof createVirtualClock>
  readonly scheduler: Scheduler
  readonly store: Store
  readonly violations: string[]
  /** Set when the model only says something and calls nothing. */
  isCalm: boolean
  /** How many requests models got. */
  requests: number
  host: { readonly life: Life; readonly registry: SessionRegistry; readonly root: LocalSession }
}

const sessionId = (number: number): SessionId => SessionId.parse(`ses_${String(number).padStart(26, '0')}`)

/** Runs a tree of subagents with the random choices of a seed: they ask, fail and start others, and processes die. */
export async function runTreeSeed(seed: number, hasHooks: boolean): Promise<void> {
  const world = await createWorld(createDice(seed), hasHooks)
  const { dice } = world
  const starting = world.host.registry.start({ workdir: '/work' })
  await settle(world)
  await starting
  send(world, { type: 'sendPrompt', content: 'Begin.' })

  for (let action = 0; action < actionsMax; action++) {
    const roll = dice.below(100)
    if (roll < 70) releaseOne(world)
    else if (roll < 82) send(world, { type: 'respondToApproval', decision: dice.pick(decisions) ?? 'reject' })
    else if (roll < 86) send(world, { type: 'sendPrompt', content: 'And then?' })
    else if (roll < 87) send(world, { type: 'revokeToolTrust', tool: 'all' })
    else if (roll < 88) send(world, { type: 'abort' })
    else if (roll < 91) send(world, { type: 'continue' })
    else if (roll < 95) world.clock.advance(dice.pick([10, 1500]) ?? 10)
    else await crash(world)
    await settlePromises()
    invariant(world.violations.length === 0, world.violations[0] ?? '')
  }
  await crash(world)
  await checkNothingStarts(world)
  await comeToRest(world)
  await checkLogs(world)
}

const decisions = ['approve', 'approve', 'approve_session', 'approve_always', 'approve_turn', 'reject'] as const

async function createWorld(dice: Dice, hasHooks: boolean): Promise<World> {
  const clock = createVirtualClock()
  const scheduler = createScheduler()
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const disk: Disk = { mood: 'well' }
  const lives = new Map<string, Life>()
  let born = 0

  async function startProcess(world: Omit<World, 'host'>): Promise<World['host']> {
    const life: Life = { node: `node-${lives.size + 1}`, status: 'living' }
    lives.set(life.node, life)
    const node = { id: life.node, address: '', startedAt: new Date(clock.now()).toISOString() }
    await store.registerNode(node)
    const crashing = createCrashingStore({
      inner: store,
      life,
      scheduler,
      dice,
      disk,
      durableLog: { add: () => undefined },
    })
    const registry = createSessionRegistry({
      store: crashing,
      memoryStore: crashing,
      blobs,
      memoryBlobs: blobs,
      clock,
      node,
      images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
      models: createModels(world, life),
      tools: createTools(),
      instructions: { gather: async () => 'Be kind.', list: async () => [] },
      files: fakeFiles,
      permissions: fakePermissions,
      hooks: hasHooks ? createRandomHooks({ life, scheduler, dice }) : undefined,
      summaryFiles: { save: async () => ok('note.md') },
      onProblem({ where, cause }) {
        if (cause instanceof InvariantViolation) world.violations.push(`${where}: ${cause.message}`)
      },
      isAlive: async ({ id }) => lives.get(id)?.status === 'living',
      newSessionId: () => sessionId(born++),
      newHandle: (attempt) => `calm-harbor-${born * 10 + attempt}`,
      resolveWorkdir: async (path) => ok(path),
    })
    return { life, registry, root: createLocalSession(registry, sessionId(0)) }
  }

  const parts = { dice, clock, scheduler, store, violations: [], isCalm: false, requests: 0 }
  const world: World = { ...parts, host: null as never } // set below
  starts.set(world, () => startProcess(world))
  world.host = await startProcess(world)
  return world
}

/** How each world starts its next process. */
const starts = new WeakMap<World, () => Promise<World['host']>>()

function createModels(world: Omit<World, 'host'>, life: Life): Models {
  const { dice, scheduler } = world
  const saidPart = (): SaidPart => {
    const roll = world.isCalm ? 9 : dice.below(10)
    if (roll < 3) return { type: 'call', tool: 'subagent', args: { task: 'look', background: dice.chance(1, 3) } }
    if (roll < 5) return { type: 'call', tool: 'touch', args: {} }
    if (roll < 6) return { type: 'call', tool: 'look', args: {} }
    return { type: 'text', text: 'Done, I believe.' }
  }
  async function* stream(signal: AbortSignal): AsyncGenerator<ModelPart> {
    world.requests += 1
    await scheduler.pass(life, 'answer')
    if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
    if (dice.chance(1, 12)) {
      const fault = { kind: 'passthrough', message: 'The model refuses.' } as const
      return yield { type: 'end', end: { type: 'failed', fault, retryable: false, retryAfterMs: null, usage: null } }
    }
    const parts = Array.from({ length: 1 + dice.below(2) }, saidPart)
    for (const [part, said] of parts.entries()) yield { type: 'said', part, said }
    const finish = parts.some(({ type }) => type === 'call') ? 'calls' : 'stop'
    yield { type: 'end', end: { type: 'complete', finish, usage: scriptedUsage } }
  }
  return modelsWith(() => ({ type: 'ready', provider: { stream: (_, { signal }) => stream(signal) } }))
}

function createTools(): Tools {
  const done = async (_: unknown, __: unknown, { begin }: { readonly begin: () => Promise<void> }) => {
    await begin()
    return { type: 'ok' as const, output: { text: 'done' } }
  }
  /** Changes a file with the name of its session, so that the log tells who changed it. */
  const touch = aTool('touch', async (_, { session }, { begin }) => {
    await begin()
    return { type: 'ok', output: { text: 'done' }, files: [{ path: String(session), change: 'modified' }] }
  })
  const all = [aSubagentTool(), touch, aTool('look', done, false)]
  return {
    all,
    find: (name) => all.find(({ schema }) => schema.name === name) ?? null,
    endLeftover: async () => undefined,
  }
}

function send({ host }: World, command: Parameters<LocalSession['submit']>[0]): void {
  host.root.submit(command).catch(() => undefined) // a refusal is a value; a killed process never answers
}

function releaseOne({ scheduler, dice }: World): void {
  const one = dice.pick(scheduler.waiting)
  if (one) scheduler.release(one)
}

/** Kills the process between any two steps, and starts another one, which takes over. */
async function crash(world: World): Promise<void> {
  const { life } = world.host
  await settlePromises()
  life.status = 'dead'
  world.scheduler.bury(life)
  const start = starts.get(world)
  invariant(start, 'a world can start processes')
  world.host = await start()
}

async function settle(world: World): Promise<void> {
  await settlePromises()
  for (let stepsLeft = 20_000, quiet = 0; quiet < 5; stepsLeft--) {
    invariant(stepsLeft > 0, 'the tree never becomes idle')
    if (world.scheduler.waiting.length > 0) {
      quiet = 0
      releaseOne(world)
    } else {
      quiet += 1
      world.clock.advance(2000)
    }
    await settlePromises()
    invariant(world.violations.length === 0, world.violations[0] ?? '')
  }
}

/** Checks that a new process only finds out what became of the tree, and calls no model. */
async function checkNothingStarts(world: World): Promise<void> {
  const before = world.requests
  const settling = world.host.registry.settleCrashed()
  await settle(world)
  await settling
  const loading = world.host.registry.load(sessionId(0))
  await settle(world)
  await loading
  invariant(world.requests === before, 'a subagent or its parent went on by itself after a crash')
}

/** Answers every approval, and checks that the whole tree becomes idle. */
async function comeToRest(world: World): Promise<void> {
  world.isCalm = true
  for (let rounds = 200; ; rounds--) {
    invariant(rounds > 0, 'the tree asks for approvals without end')
    const answering = world.host.root.submit({ type: 'respondToApproval', decision: 'approve' })
    await settle(world)
    if (!(await answering).ok) break
  }
  const state = orThrow(await world.host.registry.load(sessionId(0))).folded().state
  invariant(state.turn.phase === 'idle', `the session waits for nothing, but is ${state.turn.phase}`)
  invariant(state.children.length === 0, 'a subagent was forgotten')
}

/** Checks what is on record: each subagent was announced first, delivered at most once, and can be folded. */
async function checkLogs({ store }: World): Promise<void> {
  const { sessions } = await store.list({ limit: 1000, subagents: true })
  for (const { meta } of sessions) {
    const state = orThrow(await loadSession(store, meta.id)).state
    invariant(!meta.subagent || meta.subagent.depth <= 3, 'a subagent is too deep')
    const log = await readLog(store, meta.id)
    const started = log.flatMap(({ event }) => (event.type === 'child.started' ? [event] : []))
    invariant(new Set(started.map(({ call }) => call)).size === started.length, 'a call started two subagents')
    for (const type of ['child.ended', 'user.said'] as const) {
      const told = log.flatMap(({ event }) => {
        if (event.type === 'child.ended' && type === event.type) return [event.child]
        return event.type === 'user.said' && type === event.type && event.child ? [event.child.session] : []
      })
      invariant(new Set(told).size === told.length, `${type} twice for one subagent`)
    }
    if (!meta.subagent || meta.parent === undefined) continue
    const above = await readLog(store, meta.parent)
    const isAnnounced = above.some(({ event }) => event.type === 'child.started' && event.child === meta.id)
    invariant(isAnnounced, 'a subagent exists that its parent does not know')
    invariant(state.origin?.subagent?.root === sessionId(0), 'a subagent has another root')
    const end = above.find(({ event }) => event.type === 'child.ended' && event.child === meta.id)?.event
    // A crash right after an abort may lose it, as it may for any other call.
    const mayLack = end?.type !== 'child.ended' || end.status === 'aborted'
    const isKnown = filesIn(above).some((one) => one.path === meta.id && one.child === meta.id)
    invariant(mayLack || isKnown || !filesIn(log).some(({ path }) => path === meta.id), 'a parent lacks changed files')
  }
}

const filesIn = (log: readonly Recorded[]): readonly FileChange[] =>
  log.flatMap(({ event }) =>
    event.type === 'call.settled' || event.type === 'files.touched' ? (event.files ?? []) : [],
  )

const readLog = async (store: Store, id: SessionId): Promise<readonly Recorded[]> =>
  (await store.read(id, { after: 0, limit: 1000 })).flatMap((record) => ('lost' in record ? [] : [record]))
