import { createNodeApi, type SessionRegistry } from '@holdfast/core'
import type { OnProblem, Store } from '@holdfast/core/ports'
import { errorMessage, fault, HoldfastError } from '@holdfast/protocol'
import { isNodeAlive, type NodeSocket, openNodeSocket, removeNodeSocket } from '../system/node/node-socket.ts'
import { serveNode } from './node-server.ts'
import { reachNode } from './other-node.ts'
import type { OwnNode } from './own-node.ts'
import { startWakeWatch } from './wake-watch.ts'

/** A process that did not run for this long may have been taken for dead: others wait a second for its answer. */
const pauseMsMax = 400

/** Opens the socket on which this process answers. Without it, other processes would consider it dead. */
export const openSocket = (stateDir: string, nowMs: number): Promise<NodeSocket> =>
  openNodeSocket(stateDir, nowMs).catch((cause) => {
    const message = `Cannot use the state directory ${stateDir}: ${errorMessage(cause)}`
    throw new HoldfastError(fault('storage_error', message, { path: stateDir }))
  })

/** Creates a node of one machine: it lives while its socket answers. */
export function createLocalNode(socket: NodeSocket, store: Store): OwnNode {
  const { row } = socket
  return {
    deps: {
      node: row,
      isAlive: isNodeAlive,
      reach: reachNode,
      forgetNode: ({ address }) => removeNodeSocket(address),
    },
    join: () => store.registerNode(row),
    serve(registry, onProblem) {
      socket.serve(serveNode(createNodeApi(registry), onProblem))
      return startWakeWatch(pauseMsMax, () => rejoin(registry, socket, onProblem))
    },
    drain: async () => undefined,
    close: () => socket.close(),
  }
}

/** Gives up the sessions that others took over while this process was paused, and makes it known again. */
function rejoin(registry: SessionRegistry, socket: NodeSocket, onProblem: OnProblem): void {
  const { store, node } = registry.deps
  const work = async () => {
    await registry.dropLost()
    if ((await store.nodes()).some(({ id }) => id === node.id)) return
    await socket.listenAgain()
    await store.registerNode(node)
  }
  work().catch((cause) => registry.closedFault() ?? onProblem({ where: 'joining again after a pause', cause }))
}
