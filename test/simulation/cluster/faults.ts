import type { SimNode } from './sim-node.ts'
import { termMs } from './simulated-database.ts'
import type { World } from './world.ts'

/** Breaks something at a node, and returns what repairs it; null if it repairs itself. */
type Fault = (world: World, node: SimNode) => (() => void) | null

const faults: Readonly<Record<string, Fault>> = {
  'kill -9': (world, node) => {
    node.process.kill()
    return () => world.replace(node)
  },
  pause: (_, node) => {
    node.process.pause()
    return () => node.process.wake()
  },
  'no database': (_, { connection }) => {
    connection.mood = 'cut'
    return () => {
      connection.mood = 'well'
    }
  },
  'lost answers': (_, { connection }) => {
    connection.mood = 'losing answers'
    return () => {
      connection.mood = 'well'
    }
  },
  'a slow database': (_, { connection }) => {
    connection.mood = 'slow'
    return () => {
      connection.mood = 'well'
    }
  },
  'no way to another node': ({ network, nodes, dice }, { id }) => {
    network.cut(id, dice.pick(nodes().filter((other) => other.id !== id))?.id ?? id)
    return network.heal
  },
  'a rolling restart': (world, node) => {
    node.process.onDeath(() => world.replace(node))
    node.drain().catch((cause) => world.database.audit.violations.push(`draining ${node.id}: ${cause}`))
    return null
  },
}

/** Runs random faults, some of them at the same time. Repairs all of them at the end. */
export async function runFaults(world: World, count: number): Promise<Map<string, number>> {
  const { dice, nodes, clock } = world
  const counts = new Map<string, number>()
  const broken = new Map<SimNode, () => void>()
  for (let done = 0; done < count && world.database.audit.violations.length === 0; done++) {
    await world.run(dice.below(2500))
    const well = nodes().filter((node) => node.process.status === 'running' && !broken.has(node) && !isLeaving(node))
    // One node stays well, so that work goes on.
    const node = well.length > 1 ? dice.pick(well) : undefined
    const name = dice.pick(Object.keys(faults)) ?? ''
    if (!node) continue
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const repair = faults[name]?.(world, node)
    if (!repair) continue
    const end = () => {
      if (broken.delete(node)) repair()
    }
    broken.set(node, end)
    clock.after(dice.pick([100, 1000, termMs, 2 * termMs]) ?? termMs, end)
  }
  for (const end of broken.values()) end()
  return counts
}

const isLeaving = ({ registry }: SimNode): boolean => registry.membership.isDraining()
