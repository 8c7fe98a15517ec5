import type { Blobs, Store } from '@holdfast/core/ports'
import { ok, type Result } from '@holdfast/protocol/result'
import { createPostgresBlobs } from './blobs/postgres-blobs.ts'
import { connect, type Database } from './connect/connect.ts'
import type { PostgresLocation } from './connect/postgres-url.ts'
import { createBlobUses } from './read/blob-uses.ts'
import { createCatalogueReader } from './read/catalogue-reader.ts'
import { createLogReader } from './read/log-reader.ts'
import { checkDurability, prepareSchema } from './schema/migrate.ts'
import { createSearch } from './search/search-reader.ts'
import { createWordIndex } from './search/word-index.ts'
import { createAppendQueue } from './write/append-queue.ts'
import { createSession } from './write/create-session.ts'
import { createSessionRemover } from './write/remove-sessions.ts'
import { createDraftRows, createLeases, createTokenRows, probeDatabase } from './write/row-writer.ts'
import { createSpendingRows } from './write/spending-rows.ts'

/** A store in PostgreSQL, which several nodes may have open, and its blobs. */
export type PostgresStore = { readonly store: Store; readonly blobs: Blobs }

/** Opens or creates a store in a database. Refused: store_too_new, not_a_store, storage_error. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: { readonly blobBytesMax?: number } = {},
): Promise<Result<PostgresStore>> {
  const database = await connect(location)
  const checked = location.mayLoseData ? ok(undefined) : await checkDurability(database)
  const prepared = checked.ok ? await prepareSchema(database, location.schema) : checked
  if (!prepared.ok) {
    await database.close()
    return prepared
  }
  const { blobBytesMax: bytesMax } = options
  const blobs = createPostgresBlobs(database, bytesMax === undefined ? {} : { bytesMax })
  return ok({ store: createStore(database), blobs })
}

function createStore(database: Database): Store {
  const index = createWordIndex(database)
  const queue = createAppendQueue(database, index.wake)
  index.wake() // records that a node left without their words
  return {
    ...createLogReader(database),
    ...createCatalogueReader(database),
    ...createSessionRemover(database),
    ...createLeases(database),
    ...createDraftRows(database),
    ...createTokenRows(database),
    ...createSpendingRows(database),
    ...createBlobUses(database),
    ...createSearch(database),
    append: queue.append,
    async create(session) {
      const created = await createSession(database, session)
      index.wake()
      return created
    },
    probe: () => probeDatabase(database),
    async close() {
      await queue.idle()
      await index.close()
      await database.close()
    },
  }
}
