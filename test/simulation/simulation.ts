import {
  createLocalSession,
  createRecentRecords,
  createSessionRegistry,
  type LocalSession,
  type SessionRegistry,
} from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import { InvariantViolation, ok, SessionId } from '@holdfast/protocol'
import { createVirtualClock, type Dice, fakeFiles, fakePermissions, type VirtualClock } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { createCrashingStore, type Disk } from './crashing-store.ts'
import { createDriverWatch, type DriverWatch } from './driver-watch.ts'
import { createDurableLog, type DurableLog } from './durable-log.ts'
import { type AskedModel, createInstructions, createModels, createTools } from './random-agent.ts'
import { createRandomHooks } from './random-hooks.ts'
import { createScheduler, type Life, type Scheduler, settlePromises } from './scheduler.ts'

export const session = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvw')

/** A process that runs the session until it is killed or paused. */
export type Host = { readonly life: Life; readonly registry: SessionRegistry; readonly handle: LocalSession }

/** The real runtime with a disk, a clock, a model and tools that random choices control. */
export type Simulation = {
  readonly dice: Dice
  readonly clock: VirtualClock
  readonly scheduler: Scheduler
  readonly durableLog: DurableLog
  readonly disk: Disk
  readonly drivers: DriverWatch
  readonly store: Store
  readonly blobs: Blobs
  readonly requests: readonly AskedModel[]
  host(): Host
  /** Kills or pauses the current process and starts another one, which takes over. */
  crash(how: 'killed' | 'paused'): Promise<void>
}

export async function createSimulation(dice: Dice, hasHooks = false): Promise<Simulation> {
  const clock = createVirtualClock()
  const scheduler = createScheduler()
  const durableLog = createDurableLog()
  const disk: Disk = { mood: 'well' }
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const requests: AskedModel[] = []
  const lives = new Map<string, Life>()

  async function startProcess(): Promise<Host> {
    const life: Life = { node: `node-${lives.size + 1}`, status: 'living' }
    lives.set(life.node, life)
    const node = { id: life.node, address: '', startedAt: new Date(clock.now()).toISOString() }
    await store.registerNode(node)
    const parts = { life, scheduler, durableLog, dice, requests }
    const crashing = createCrashingStore({ inner: store, ...parts, disk })
    const registry = createSessionRegistry({
      store: crashing,
      memoryStore: crashing,
      blobs,
      memoryBlobs: blobs,
      recent: createRecentRecords(),
      images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
      models: createModels(parts),
      tools: createTools(parts),
      instructions: createInstructions(parts),
      files: fakeFiles,
      permissions: fakePermissions,
      hooks: hasHooks ? createRandomHooks(parts) : undefined,
      summaryFiles: { save: async () => ok('note.md') },
      clock,
      onProblem({ where, cause }) {
        if (cause instanceof InvariantViolation) durableLog.violations.push(`${where}: ${cause.message}`)
      },
      node,
      isAlive: async ({ id }) => lives.get(id)?.status === 'living',
      newSessionId: () => session,
      newHandle: () => 'calm-harbor-1',
      resolveWorkdir: async (path) => ok(path),
    })
    return { life, registry, handle: createLocalSession(registry, session) }
  }

  let host = await startProcess()
  const drivers = createDriverWatch(() => host, session)
  return {
    dice,
    clock,
    scheduler,
    durableLog,
    disk,
    drivers,
    store,
    blobs,
    requests,
    host: () => host,
    async crash(how) {
      const { life } = host
      // A pending append may have reached the disk or not.
      for (const one of scheduler.waiting) {
        if (one.life === life && one.what === 'append' && dice.chance(1, 2)) scheduler.release(one)
      }
      await settlePromises()
      life.status = how === 'killed' ? 'dead' : 'paused'
      if (how === 'killed') scheduler.bury(life)
      host = await startProcess()
    },
  }
}
