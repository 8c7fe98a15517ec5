import type { OnProblem } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { invariant, orThrow } from '@holdfast/protocol'
import { createRequestThread } from '../context/requests/request-thread.ts'
import { type NodeOptions, openClusterNode } from '../nodes/cluster/cluster-node.ts'
import { createLocalNode, openSocket } from '../nodes/local-node.ts'
import type { OwnNode } from '../nodes/own-node.ts'
import { openStorage, type Storage } from '../store/open/open-storage.ts'
import { isPostgresUrl } from '../store/postgres/connect/postgres-url.ts'
import { type Environment, type Home, storeOf } from '../system/home.ts'
import type { NodeSocket } from '../system/node/node-socket.ts'
import { wallClock } from '../system/wall-clock.ts'
import type { InnerOptions } from './open-options.ts'

/** Opens the store, once the configuration is checked, and registers this process as a node in it. */
export async function openStoreAndNode(
  {
    store: given,
    blobs: own,
    mirror,
    node: nodeOptions = {},
    environment,
    onProblem,
    checked,
  }: InnerOptions & { environment: Environment; onProblem: OnProblem; checked: Promise<unknown> },
  home: Home,
  opened: AsyncDisposableStack,
) {
  const url = given ?? storeOf(environment)
  const isCluster = typeof url === 'string' && isPostgresUrl(url)
  const [opening, listening] = await Promise.allSettled([
    openStorage({
      store: url,
      blobs: own,
      mirror,
      environment,
      home,
      onProblem,
      checked,
    }),
    checked.then(() => (isCluster ? null : openSocket(home.stateDir, wallClock.now()))),
  ])
  if (listening.status === 'fulfilled') opened.defer(() => listening.value?.close())
  if (opening.status === 'rejected') throw opening.reason
  const storage = orThrow(opening.value)
  const { store, memoryStore, blobs, location, openWriterPort } = storage
  opened.defer(() => store.close())
  opened.defer(() => storage.mirror?.close())
  if (listening.status === 'rejected') throw listening.reason
  // The thread that builds requests can read only a SQLite store.
  const source = location.kind === 'sqlite' ? { path: location.path, blobsDir: location.blobsDir } : null
  const requests = source && createRequestThread({ source, here: createRequestBuilder(store, blobs), onProblem })
  opened.defer(() => requests?.close())
  const ownNode = await openNode(storage, listening.value, nodeOptions)
  opened.defer(() => ownNode.close())
  await ownNode.join()
  return {
    store,
    memoryStore,
    blobs,
    location,
    openWriterPort,
    own: ownNode,
    requests: requests ?? undefined,
  }
}

/** Opens this process as a node: of a cluster if the store is one, else with the socket. */
function openNode(
  { store, cluster }: Pick<Storage, 'store' | 'cluster'>,
  socket: NodeSocket | null,
  options: NodeOptions,
): Promise<OwnNode> | OwnNode {
  if (cluster) return openClusterNode({ store, cluster, options, nowMs: wallClock.now() })
  invariant(socket, 'a process without a cluster has a socket')
  return createLocalNode(socket, store)
}
