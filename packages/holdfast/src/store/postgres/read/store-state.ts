import type { NodeRow } from '@holdfast/core/ports'
import type { StoreSizes } from '../../read-only-store.ts'
import type { Database } from '../connect/connect.ts'

/** Returns the nodes whose term has not ended, by the clock of the database. */
export async function readLiveNodes({ read }: Database): Promise<readonly NodeRow[]> {
  const rows = await read(
    'select id, address, started_at as "startedAt" from @node where term_ends > clock_timestamp() order by id',
  )
  return rows.map((row) => ({ ...row }) as NodeRow) // its columns
}

const bytesOf = (...tables: readonly string[]): string =>
  tables.map((table) => `pg_total_relation_size('@${table}'::regclass)`).join(' + ')

/** Returns how large the tables are, with their indexes. Blobs are counted by their own size, wherever they are. */
export async function measureTables({ read }: Database): Promise<StoreSizes> {
  const [row] = await read(
    `select ${bytesOf('session', 'record', 'command_hash', 'draft', 'blob_use')} as records,
      ${bytesOf('search', 'unindexed', 'snapshot')} as indexes, count(*) as blobs, coalesce(sum(bytes), 0) as blob_bytes
    from @blob`,
  )
  return {
    recordBytes: Number(row?.['records']),
    indexBytes: Number(row?.['indexes']),
    blobs: Number(row?.['blobs']),
    blobBytes: Number(row?.['blob_bytes']),
  }
}
