import { orThrow, type SessionId } from '@holdfast/protocol'
import type { RestoreRun } from '../../ports/workspace-files.ts'
import type { RuntimeDeps } from '../dependencies.ts'
import { openBlob } from './read-blob.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs'>

/** Returns a reader of the session's blobs. */
export const readerOf = (deps: Deps, id: SessionId, signal: AbortSignal): Omit<RestoreRun, 'put'> => ({
  signal,
  async read(hash) {
    const opened = await openBlob(deps, id, hash)
    if (opened.ok) return Buffer.concat(await Array.fromAsync(opened.value))
    if (opened.fault.code === 'blob_not_found') return null
    return orThrow(opened)
  },
})
