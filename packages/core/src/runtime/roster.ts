import {
  type Event,
  fault,
  Handle,
  limits,
  ok,
  type Result,
  refuse,
  type SessionId,
  type Settings,
  type StartOptions,
} from '@holdfast/protocol'
import type { Lease, NodeRow } from '../ports/lease.ts'
import type { RuntimeParts } from './effect/parts.ts'
import { encodeRecords } from './encode-records.ts'
import { fold, loadSession } from './load-session.ts'
import { openRunner, type SessionRunner } from './session-runner.ts'

/** What a node brings beside its adapters: its name, and what only the world can tell. */
export type NodeParts = RuntimeParts & {
  readonly node: NodeRow
  /** Whether a registered node still answers. */
  readonly isAlive: (node: NodeRow) => Promise<boolean>
  readonly newSessionId: () => SessionId
  /** A handle nobody is likely to have; `attempt` grows while they do. */
  readonly newHandle: (attempt: number) => string
  /** The real path of a directory that exists. Refused: bad_workdir. */
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
  readonly defaultModel: Settings['model']
}

/** The sessions that are awake in this process, and the right to wake others. */
export interface Roster {
  readonly parts: NodeParts
  start(options: StartOptions): Promise<Result<SessionRunner>>
  /** The session, awake. Refused: session_not_found, session_locked, log_damaged. */
  wake(id: SessionId): Promise<Result<SessionRunner>>
  /** The session if it is awake here, without waking it. */
  awake(id: SessionId): SessionRunner | null
  all(): readonly SessionRunner[]
  rest(id: SessionId): Promise<void>
  /** Settles what dead nodes left open, removes what nobody spoke in, and returns the dead. A starting node does this once. */
  settleCrashed(): Promise<readonly NodeRow[]>
  close(): Promise<void>
}

type Held = { readonly runner: SessionRunner; readonly lease: Lease; cancelUnload: (() => void) | null }

export function createRoster(parts: NodeParts): Roster {
  const { store, clock, node } = parts
  const held = new Map<SessionId, Held>()
  const waking = new Map<SessionId, Promise<Result<SessionRunner>>>()
  let isClosing = false

  async function claim(id: SessionId): Promise<Result<Lease>> {
    const free = await store.claim(id, node.id, null)
    if (free.ok || free.fault.code !== 'session_locked') return free
    const owner = free.fault.details?.['node']
    if (typeof owner !== 'string') return free
    const row = (await store.nodes()).find((one) => one.id === owner)
    if (row && (await parts.isAlive(row))) {
      const message = `Session ${id} is open in another process (${owner}). Use that one, or end it first.`
      return refuse(fault('session_locked', message, { node: owner, since: row.startedAt }))
    }
    return store.claim(id, node.id, owner)
  }

  async function open(id: SessionId): Promise<Result<SessionRunner>> {
    const lease = await claim(id)
    if (!lease.ok) return lease
    const runner = await runnerFor(id, lease.value)
    if (!runner.ok) {
      await store.release(id, node.id, lease.value.epoch)
      return runner
    }
    held.set(id, { runner: runner.value, lease: lease.value, cancelUnload: null })
    scheduleUnload(id)
    return runner
  }

  async function runnerFor(id: SessionId, { epoch }: Lease): Promise<Result<SessionRunner>> {
    const loaded = await loadSession(store, id)
    if (!loaded.ok) return loaded
    const { lost } = loaded.value
    if (lost.length > 0) {
      const message = `Session ${id} has records that cannot be read, so it is read-only. The rest can be shown.`
      return refuse(fault('log_damaged', message, { session: id, lost }))
    }
    return openRunner({
      id,
      epoch,
      parts,
      loaded: loaded.value,
      touched: () => scheduleUnload(id),
      lost: ({ code }) => {
        forget(id)
        // The log moved and no one else owns it: an append we took for refused had got there. Take it up where it stands.
        if (code === 'log_moved') void wake(id)
      },
    })
  }

  function forget(id: SessionId): void {
    held.get(id)?.cancelUnload?.()
    held.delete(id)
  }

  /** A session nobody attends and that owes nothing leaves memory; the next touch brings it back. */
  function scheduleUnload(id: SessionId): void {
    const one = held.get(id)
    if (!one) return
    one.cancelUnload?.()
    const mayRest = () => {
      const { turn, queue } = one.runner.folded().state
      return one.runner.hub.size === 0 && turn.phase === 'idle' && queue.length === 0
    }
    one.cancelUnload = mayRest()
      ? clock.after(limits.idleUnloadMs, () => void (mayRest() && rest(id, 'stopped')))
      : null
  }

  async function rest(id: SessionId, reason: 'stopped' | 'closing'): Promise<void> {
    const one = held.get(id)
    if (!one) return
    forget(id)
    await one.runner.stop(reason)
    await store.release(id, node.id, one.lease.epoch)
    if (!one.runner.folded().row.entry.spoken) await store.removeUnspoken([])
  }

  async function wake(id: SessionId): Promise<Result<SessionRunner>> {
    if (isClosing) return refuse(fault('session_stopped', 'This process is closing.'))
    const known = held.get(id)
    if (known) return ok(known.runner)
    const pending = waking.get(id) ?? open(id).finally(() => waking.delete(id))
    waking.set(id, pending)
    return pending
  }

  async function start(options: StartOptions): Promise<Result<SessionRunner>> {
    const workdir = await parts.resolveWorkdir(options.workdir)
    if (!workdir.ok) return workdir
    const id = parts.newSessionId()
    for (let attempt = 0; ; attempt++) {
      const event = started(options, workdir.value, Handle.parse(parts.newHandle(attempt)), parts.defaultModel)
      const records = encodeRecords({ after: 0, atMs: clock.now(), events: [event], commandId: null, by: null })
      const folded = records.reduce<ReturnType<typeof fold> | null>((sum, { record }) => fold(sum, id, record), null)
      if (!folded) return refuse(fault('internal', 'A session begins with a record.'))
      const created = await store.create({
        session: id,
        parent: null,
        base: 0,
        owner: node.id,
        records,
        entry: folded.row.entry,
      })
      if (created.ok) return wake(id)
      if (created.fault.code !== 'handle_taken' || attempt >= 20) return created
    }
  }

  return {
    parts,
    start,
    wake,
    awake: (id) => held.get(id)?.runner ?? null,
    all: () => [...held.values()].map(({ runner }) => runner),
    rest: (id) => rest(id, 'stopped'),

    async settleCrashed() {
      const others = (await store.nodes()).filter(({ id }) => id !== node.id)
      const living = await Promise.all(others.map(parts.isAlive))
      const gone = others.filter((_, index) => !living[index])
      const dead = gone.map(({ id }) => id)
      for (const { session, owner } of await store.busy()) {
        if (owner !== null && !dead.includes(owner)) continue
        const settled = await wake(session)
        // One session that cannot be settled must not keep the others from it, nor the node from starting.
        if (settled.ok) await rest(session, 'stopped')
        else if (settled.fault.code !== 'session_locked')
          parts.report({ where: `settling ${session}`, cause: settled.fault })
      }
      await store.removeUnspoken(dead)
      for (const id of dead) await store.removeNode(id)
      return gone
    },

    async close() {
      isClosing = true
      await Promise.all(waking.values())
      await Promise.all([...held.keys()].map((id) => rest(id, 'closing')))
      await store.removeUnspoken([node.id])
      await store.removeNode(node.id)
    },
  }
}

function started(options: StartOptions, workdir: string, handle: Handle, defaultModel: Settings['model']): Event {
  const {
    model = defaultModel,
    thinkingLevel = 'off',
    mode = 'exec',
    title,
    key,
    tools,
    instructions,
    budgets = {},
  } = options
  return {
    type: 'session.started',
    handle,
    ...(key !== undefined && { key }),
    workdir,
    settings: { model, thinkingLevel, mode, ...(title !== undefined && { title }), budgets },
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { instructions }),
  }
}
