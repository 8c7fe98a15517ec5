import { join } from 'node:path'
import type { ModelRequest } from '@holdfast/core/ports'
import { orThrow, type Recorded, type SessionId } from '@holdfast/protocol'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { openBodyRecorder } from './body-recorder.ts'
import { openBothBuilders } from './build-both-ways.ts'
import { listStepInputs, recordsOf } from './step-inputs.ts'

/** A step of a log, and its request body: built here twice, and on the worker thread. */
export type RebuiltStep = { readonly request: ModelRequest; readonly bodies: readonly [string, string, string] }
export type RebuiltSession = { readonly records: readonly Recorded[]; readonly steps: readonly RebuiltStep[] }

/** Builds all requests of a session again, from its store alone. */
export async function rebuildRequests(dataDir: string, session: SessionId): Promise<RebuiltSession> {
  await using opened = new AsyncDisposableStack()
  const source = { path: join(dataDir, 'holdfast.db'), blobsDir: join(dataDir, 'blobs') }
  const store = orThrow(await openSqliteStore({ path: source.path }))
  opened.defer(() => store.close())
  const blobs = orThrow(await openFileBlobs(source.blobsDir))
  const { here, there } = opened.use(openBothBuilders(store, blobs, source))
  const { bodyOf } = opened.use(await openBodyRecorder())
  const records = await recordsOf(store, session)
  const steps: RebuiltStep[] = []
  for (const asked of await listStepInputs(session, records, blobs)) {
    const request = await here(asked)
    const again = await bodyOf(await here(asked))
    steps.push({ request, bodies: [await bodyOf(request), again, await bodyOf(await there(asked))] })
  }
  return { records, steps }
}
