import type { Blobs, Cluster, OnProblem, Store } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { type BlobOptions, createPostgresBlobs } from './blobs/postgres-blobs.ts'
import { createChangeNotices } from './cluster/change-notices.ts'
import { type ClusterDatabase, openCluster } from './cluster/cluster.ts'
import { connect, type Database } from './connect/connect.ts'
import { patienceIn } from './connect/patience.ts'
import type { PostgresLocation } from './connect/postgres-url.ts'
import { createBlobUses } from './read/blob-uses.ts'
import { createCatalogueReader } from './read/catalogue-reader.ts'
import { createLogReader } from './read/log-reader.ts'
import { checkDurability, prepareSchema } from './schema/migrate.ts'
import { createSearch } from './search/search-reader.ts'
import { createWordIndex } from './search/word-index.ts'
import { createAppendQueue } from './write/append-queue.ts'
import { createSession } from './write/create-session.ts'
import { createDraftRows } from './write/draft-rows.ts'
import { createLeases } from './write/leases.ts'
import { createPermissionRows } from './write/permission-rows.ts'
import { createSessionRemover } from './write/remove-sessions.ts'
import { createSpendingRows } from './write/spending-rows.ts'
import { createTenants } from './write/tenant-rows.ts'
import { createTokenRows, probeDatabase } from './write/token-rows.ts'

export { createS3Objects, findNoKeys } from './blobs/s3-objects.ts'
export { parseS3Url } from './blobs/s3-url.ts'

/** A store in PostgreSQL, which several nodes may have open, with its blobs and its nodes. */
export type PostgresStore = { readonly store: Store; readonly blobs: Blobs; readonly cluster: Cluster }

export type PostgresOptions = {
  readonly blobBytesMax?: number | undefined
  readonly blobs?: BlobOptions | undefined
  /** Receives unexpected errors of work in the background. */
  readonly onProblem?: OnProblem | undefined
}

/** Opens or creates a store in a database. Refused: store_too_new, not_a_store, storage_error. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: PostgresOptions = {},
): Promise<Result<PostgresStore>> {
  const database = await connect(location)
  const checked = location.mayLoseData ? ok(undefined) : await checkDurability(database)
  const prepared = checked.ok ? await prepareSchema(database, location.schema) : checked
  if (!prepared.ok) {
    await database.close()
    return prepared
  }
  const blobs = createPostgresBlobs(database, {
    ...options.blobs,
    bytesMax: options.blobBytesMax,
    onProblem: options.onProblem,
  })
  const cluster = await openCluster(location)
  return ok({ store: createStore(database, cluster, location.termMs, options.onProblem), blobs, cluster })
}

function createStore(
  database: Database,
  cluster: ClusterDatabase,
  termMs: number,
  onProblem: OnProblem = () => undefined,
): Store {
  const index = createWordIndex(database, onProblem)
  const notices = createChangeNotices(cluster.notify)
  const onAppended = (sessions: readonly SessionId[]) => {
    index.wake()
    notices.add(sessions)
  }
  const queue = createAppendQueue(database, onAppended, { patienceMs: patienceIn(termMs) })
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
    tenants: createTenants(database),
    permissionRules: createPermissionRows(database),
    append: queue.append,
    async create(session) {
      const created = await createSession(database, session)
      index.wake()
      notices.add([session.session])
      return created
    },
    probe: () => probeDatabase(database),
    async close() {
      await queue.idle()
      await index.close()
      await notices.close()
      await Promise.all([database.close(), cluster.close()])
    },
  }
}
