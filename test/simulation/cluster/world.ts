import { SessionId } from '@holdfast/protocol'
import { createVirtualClock, type Dice, type VirtualClock } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createNetwork, type Network } from './network.ts'
import { type SimNode, startSimNode } from './sim-node.ts'
import { createSimulatedDatabase, type Defect, type SimulatedDatabase } from './simulated-database.ts'

/** Three nodes on one database, with random faults. Time passes only from event to event. */
export type World = {
  readonly dice: Dice
  /** The clock of the database. */
  readonly clock: VirtualClock
  readonly database: SimulatedDatabase
  readonly network: Network
  readonly defect: Defect | null
  newSessionId(): SessionId
  /** The nodes of now, some of them paused. */
  nodes(): readonly SimNode[]
  /** Starts a node in place of one that has stopped. */
  replace(node: SimNode): void
  /** Runs until `isDone`, for `forMs` at most. Returns whether it is done. */
  run(forMs: number, isDone?: () => boolean): Promise<boolean>
}

const names = ['a', 'b', 'c'] as const

export function createWorld(dice: Dice, defect: Defect | null): World {
  const clock = createVirtualClock()
  const blobs = createMemoryBlobs()
  let started = 0
  let sessions = 0
  let nodes: readonly SimNode[] = []
  const start = (name: string) => startSimNode(world, blobs, `node_${name}${++started}`)
  const world: World = {
    dice,
    clock,
    defect,
    database: createSimulatedDatabase(clock, defect),
    network: createNetwork(clock, dice),
    newSessionId: () => SessionId.parse(`ses_01k9xyzabcdefghjkmnpqr${String(++sessions).padStart(4, '0')}`),
    nodes: () => nodes,
    replace(node) {
      const name = node.id.charAt('node_'.length)
      nodes = nodes.map((one) => (one === node ? start(name) : one))
    },
    async run(forMs, isDone = () => false) {
      const untilMs = clock.now() + forMs
      while (clock.now() < untilMs && !isDone() && world.database.audit.violations.length === 0) {
        clock.advance(Math.min(clock.nextMs() ?? forMs, untilMs - clock.now()))
        await settled()
      }
      return isDone()
    },
  }
  nodes = names.map(start)
  return world
}

/** Resolves when only the clock can continue the run. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
