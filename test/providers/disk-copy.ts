import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { blobsOf } from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import { Handle, invariant, orThrow, SessionId } from '@holdfast/protocol'
import { readBlob } from '../../packages/core/src/runtime/blobs/read-blob.ts'
import type { RequestSource } from '../../packages/holdfast/src/context/requests/request-worker.ts'
import { openFileBlobs } from '../../packages/holdfast/src/store/blobs/file-blobs.ts'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import type { RequestsFixture } from '../simulation/requests/fixture.ts'
import { recordsOf } from './step-inputs.ts'

export type DiskCopy = AsyncDisposable & {
  readonly source: RequestSource
  readonly store: Store
  readonly blobs: Blobs
  /** Copies all sessions under new ids, and returns the new id of the main one. */
  take(runtime: RequestsFixture): Promise<SessionId>
}

/** The common prefix of session ids in the simulation. */
const idHead = 'ses_01k9xyzabcdefghjkmnpqrs'

/** Opens a store on disk for sessions from memory, so that other threads can read them. */
export async function openDiskCopy(dir: string): Promise<DiskCopy> {
  await mkdir(dir, { recursive: true })
  const source = { path: join(dir, 'holdfast.db'), blobsDir: join(dir, 'blobs') }
  const store = orThrow(await openSqliteStore({ path: source.path }))
  const blobs = orThrow(await openFileBlobs(source.blobsDir))
  let taken = 0
  let sessions = 0

  async function take(runtime: RequestsFixture): Promise<SessionId> {
    const head = idHead.replace('npqrs', String(taken++).padStart(5, '0'))
    const renamed = (text: string) => text.replaceAll(idHead, head)
    for (const id of runtime.sessions) {
      const kept = await runtime.store.entry(id)
      if (!kept) continue
      const records = await recordsOf(runtime.store, id, kept.base)
      for (const hash of new Set(records.flatMap(({ event }) => blobsOf(event)))) {
        const bytes = await readBlob(runtime.blobs, hash)
        if (bytes) orThrow(await blobs.put([bytes]))
      }
      const first = records[0]?.event
      invariant(first?.type === 'session.started', 'a log begins with its start')
      const parent = first.fork?.lineage.at(-1)?.session ?? null
      const meta = { ...kept.entry.meta, handle: Handle.parse(`kept-log-${sessions++}`) }
      orThrow(
        await store.create({
          session: SessionId.parse(renamed(id)),
          parent: parent && SessionId.parse(renamed(parent)),
          base: kept.base,
          owner: 'me',
          blobs: [],
          entry: JSON.parse(renamed(JSON.stringify({ ...kept.entry, meta }))),
          records: records.map((record) => {
            const event = JSON.parse(renamed(JSON.stringify(record.event)))
            return { record: { ...record, event }, body: JSON.stringify(event) }
          }),
        }),
      )
    }
    return SessionId.parse(renamed(runtime.session))
  }
  return { source, store, blobs, take, [Symbol.asyncDispose]: () => store.close() }
}
