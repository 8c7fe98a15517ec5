import type { SessionRegistry } from '@holdfast/core'
import { notReady, ok, type Result, refuse } from '@holdfast/protocol'

/**
 * Checks that this process can run sessions: it is not closing, the store and the place of its files accept writes, and the
 * store knows this process as a node, so that others reach its sessions. Refused: not_ready, with a sentence that names no path.
 */
export async function checkReady(registry: SessionRegistry): Promise<Result<null>> {
  const { store, blobs, node } = registry.deps
  if (registry.closedFault()) return refuse(notReady('closing', 'The server is shutting down.'))
  if (registry.membership.isDraining())
    return refuse(notReady('closing', 'The server hands its sessions over to other nodes and stops.'))
  const [probed, files] = await Promise.all([store.probe(), blobs.probe?.()])
  if (!probed.ok) return refuse(notReady('store', 'The store accepts no writes. See the log of the server.'))
  if (files?.ok === false)
    return refuse(notReady('files', 'The place for files (S3) cannot be used. See the log of the server.'))
  const isKnown = (await store.nodes()).some(({ id }) => id === node.id)
  return isKnown ? ok(null) : refuse(notReady('owner', 'The store does not know this process as an owner of sessions.'))
}
