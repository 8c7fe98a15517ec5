import { setTimeout as wait } from 'node:timers/promises'
import type { Dice } from '@holdfast/testkit'
import { within } from './busy-clients.ts'
import type { ClusterProcess, ThreeNodes } from './three-nodes.ts'

/** Breaks something, waits for `progress`, and repairs it. */
type Fault = (cluster: ThreeNodes, node: ClusterProcess, run: FaultRun) => Promise<void>

export type FaultRun = {
  readonly dice: Dice
  readonly termMs: number
  /** Resolves when every session went on. */
  readonly progress: () => Promise<void>
}

const startsMax = 20
/** A fault waits for progress twice at most, each for a minute. */
const faultMsMax = 150_000

/** Starts a node in the background. One that finds no database ends, and is started again, as a supervisor would. */
const startAgain = (cluster: ThreeNodes, node: ClusterProcess): void => {
  const start = async (): Promise<void> => {
    for (let starts = 1; ; starts++) {
      try {
        return await cluster.start(node)
      } catch (cause) {
        if (starts === startsMax || !String(cause).includes('the database does not answer')) throw cause
      }
    }
  }
  node.starting = start().finally(() => {
    node.starting = null
  })
}

export const faults: Readonly<Record<string, Fault>> = {
  async 'kill -9'(cluster, node, { progress }) {
    await cluster.kill(node)
    await progress()
    startAgain(cluster, node)
  },

  async 'a paused node'(_, node, { termMs, progress }) {
    node.server?.process.kill('SIGSTOP')
    await Promise.all([progress(), wait(termMs * 1.5)])
    node.server?.process.kill('SIGCONT')
    await progress()
  },

  async 'cut connections'(_, node, { progress }) {
    node.proxy.cut()
    await progress()
  },

  async 'a node without its database'(_, node, { termMs, progress }) {
    node.proxy.stall()
    await Promise.all([progress(), wait(termMs * 1.5)])
    node.proxy.cut()
    node.proxy.flow()
    await progress()
  },

  async 'a slow database'(_, node, { dice, progress }) {
    node.proxy.flow(10 + dice.below(60))
    await progress()
    node.proxy.flow()
  },

  async 'a database that restarts'({ database }, _, { progress }) {
    await database.stop()
    await database.start()
    await progress()
  },

  async 'a rolling restart'(cluster, node, { progress }) {
    const { server } = node
    node.server = null
    await Promise.all([server?.stop(), progress()])
    startAgain(cluster, node)
  },
}

/** Runs random faults, one after the other. Returns how often each ran. */
export async function runFaults(cluster: ThreeNodes, cycles: number, run: FaultRun): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const names = Object.keys(faults)
  for (let cycle = 0; cycle < cycles; cycle++) {
    // Each at least once, then at random.
    const name = names[cycle] ?? run.dice.pick(names) ?? ''
    const node = run.dice.pick(cluster.nodes.filter(({ server, starting }) => server && !starting))
    if (!node) {
      await Promise.race(cluster.nodes.map(({ starting }) => starting).filter((one) => one !== null))
      cycle -= 1
      continue
    }
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const at = performance.now()
    const late = () => new Error(`${name} at node ${node.name}, fault ${cycle + 1}, does not end`)
    await within(faultMsMax, faults[name]?.(cluster, node, run) ?? Promise.resolve(), late)
    if (process.env['CLUSTER_TIMES']) console.log(`${name}: ${Math.round(performance.now() - at)} ms`)
  }
  return counts
}
