import { orThrow, type SessionId } from '@holdfast/protocol'
import type { RestoreRun } from '../../ports/workspace-files.ts'
import { openBlob } from '../blobs/read-blob.ts'
import type { RuntimeDeps } from '../dependencies.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs'>

/** Returns how the blobs of a session are read. */
export const readerOf = (deps: Deps, id: SessionId, signal: AbortSignal): Omit<RestoreRun, 'put'> => ({
  signal,
  async read(hash) {
    const opened = await openBlob(deps, id, hash)
    if (opened.ok) return Buffer.concat(await Array.fromAsync(opened.value))
    if (opened.fault.code === 'blob_not_found') return null
    return orThrow(opened)
  },
})
