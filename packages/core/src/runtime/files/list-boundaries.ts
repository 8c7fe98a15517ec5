import { type ListedBoundary, ok, type Result, type SessionId } from '@holdfast/protocol'
import type { SessionState } from '../../session/state.ts'
import { readerOf } from '../blobs/blob-reader.ts'
import type { RuntimeDeps } from '../dependencies.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs' | 'files'>

/** Lists the boundaries with the lines that they have now. The recorded lines do not know of changes by others. */
export async function listBoundaries(
  deps: Deps,
  id: SessionId,
  { boundaries, origin }: SessionState,
): Promise<Result<readonly ListedBoundary[]>> {
  const { read } = readerOf(deps, id, new AbortController().signal)
  const listed: ListedBoundary[] = []
  for (const { path, start, end, content } of boundaries) {
    const bounded = { path, start, end, content, counted: await read(content) }
    const now = await deps.files.locateBoundary(origin?.workdir ?? '', bounded)
    listed.push(now.ok ? { path, ...now.value } : { path, start, end, suspended: now.fault.message })
  }
  return ok(listed)
}
