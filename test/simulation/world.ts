import { createLocalSession, createSessionRegistry, type SessionRegistry } from '@holdfast/core'
import type { Blobs, ModelRequest, Store } from '@holdfast/core/ports'
import { InvariantViolation, ok, type SessionHandle, SessionId } from '@holdfast/protocol'
import { createVirtualClock, type Dice, type VirtualClock } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { createInstructions, createModels, createTools } from './agent.ts'
import { createCrashingStore, type Disk } from './crashing-store.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createSeatWatch, type SeatWatch } from './seat-watch.ts'
import { createTurnstile, type Life, quiet, type Turnstile } from './turnstile.ts'

export const session = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvw')

/** A process that runs the session, as long as it lives. */
export type Host = { readonly life: Life; readonly registry: SessionRegistry; readonly handle: SessionHandle }

/** The real runtime on a disk, a clock, a model and tools that the dice command. */
export type World = {
  readonly dice: Dice
  readonly clock: VirtualClock
  readonly turnstile: Turnstile
  readonly ledger: Ledger
  readonly disk: Disk
  readonly seats: SeatWatch
  readonly store: Store
  readonly blobs: Blobs
  readonly requests: readonly { readonly step: number; readonly request: ModelRequest }[]
  host(): Host
  /** Ends the present life, or only pauses it, and lets a new one take over. */
  crash(how: 'killed' | 'paused'): Promise<void>
}

export async function createWorld(dice: Dice): Promise<World> {
  const clock = createVirtualClock()
  const turnstile = createTurnstile()
  const ledger = createLedger()
  const disk: Disk = { mood: 'well' }
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const requests: { step: number; request: ModelRequest }[] = []
  const lives = new Map<string, Life>()

  async function beBorn(): Promise<Host> {
    const life: Life = { node: `node-${lives.size + 1}`, status: 'living' }
    lives.set(life.node, life)
    const node = { id: life.node, address: '', startedAt: new Date(clock.now()).toISOString() }
    await store.registerNode(node)
    const parts = { life, turnstile, ledger, dice, requests }
    const registry = createSessionRegistry({
      store: createCrashingStore({ inner: store, ...parts, disk }),
      blobs,
      memoryBlobs: blobs,
      images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
      models: createModels(parts),
      tools: createTools(parts),
      instructions: createInstructions(parts),
      artefacts: { save: async () => ok('note.md') },
      clock,
      onProblem({ where, cause }) {
        if (cause instanceof InvariantViolation) ledger.violations.push(`${where}: ${cause.message}`)
      },
      node,
      isAlive: async ({ id }) => lives.get(id)?.status === 'living',
      newSessionId: () => session,
      newHandle: () => 'calm-harbor-1',
      resolveWorkdir: async (path) => ok(path),
    })
    return { life, registry, handle: createLocalSession(registry, session) }
  }

  let host = await beBorn()
  const seats = createSeatWatch(() => host, session)
  return {
    ...{ dice, clock, turnstile, ledger, disk, seats, store, blobs, requests },
    host: () => host,
    async crash(how) {
      const { life } = host
      // What was on its way to the disk may have got there, or not.
      for (const one of turnstile.waiting) {
        if (one.life === life && one.what === 'append' && dice.chance(1, 2)) turnstile.letGo(one)
      }
      await quiet()
      life.status = how === 'killed' ? 'dead' : 'paused'
      if (how === 'killed') turnstile.bury(life)
      host = await beBorn()
    },
  }
}
