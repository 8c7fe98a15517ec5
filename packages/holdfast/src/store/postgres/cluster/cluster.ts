import type { Cluster, NodeRow } from '@holdfast/core/ports'
import { connect, type Database } from '../connect/connect.ts'
import type { PostgresLocation } from '../connect/postgres-url.ts'
import { textOrNull } from '../read/columns.ts'
import { termEnd } from '../write/leases.ts'
import { followChanges } from './follow-changes.ts'

/** The part of a cluster that the store itself uses. */
export type ClusterDatabase = Cluster & {
  /** Sends a notice to all followers of changes. */
  notify(payload: string): Promise<void>
  close(): Promise<void>
}

/** Renewals have connections of their own, so that they never wait behind the work of sessions. */
const connections = { max: 2, connectionTimeoutMillis: 1000, query_timeout: 1500 }

/** Prepares the statements about nodes. Opens no connection yet. */
export async function openCluster(location: PostgresLocation): Promise<ClusterDatabase> {
  const database = await connect(location, connections)
  const channel = `holdfast_${location.schema}`
  return {
    termMs: location.termMs,
    ...createNodeRows(database, location.termMs),
    changes: (signal) => followChanges(location, database, channel, signal),
    async notify(payload) {
      await database.write('select pg_notify($1, $2)', [channel, payload])
    },
    close: () => database.close(),
  }
}

type NodeRows = Pick<Cluster, 'join' | 'renew' | 'drain' | 'keyOf' | 'place' | 'serving'>

function createNodeRows({ read, write }: Database, termMs: number): NodeRows {
  return {
    async join({ id, address, startedAt, key, serves }) {
      await write(
        `insert into @node (id, address, started_at, key, serves, term_ends) values ($1, $2, $3, $4, $5, ${termEnd('$6')})
        on conflict (id) do update set address = excluded.address, started_at = excluded.started_at, key = excluded.key,
          serves = excluded.serves, term_ends = excluded.term_ends`,
        [id, address, startedAt, key, JSON.stringify(serves), termMs],
      )
    },
    // An ended term is not renewed: another node may be taking over right now.
    async renew(id) {
      const renewed = await write(
        `update @node set term_ends = ${termEnd('$2')} where id = $1 and term_ends > clock_timestamp() returning id`,
        [id, termMs],
      )
      return renewed.length > 0
    },
    async drain(id) {
      await write('update @node set is_draining = true where id = $1', [id])
    },
    async keyOf(id) {
      const [row] = await read('select key from @node where id = $1', [id])
      return textOrNull(row?.['key'] ?? null)
    },
    async serving(path, here) {
      const rows = await read(
        `select id, address, started_at as "startedAt" from @node
        where id <> $2 and key is not null and not is_draining and term_ends > clock_timestamp() and exists (
          select 1 from jsonb_array_elements(serves) folder where folder->>'path' <> '/'
            and ($1 = folder->>'path' or starts_with($1, rtrim(folder->>'path', '/') || '/')))
        order by id`,
        [path, here],
      )
      return rows.map((row) => ({ ...row }) as NodeRow) // its columns
    },
    async place(session, here) {
      const [row] = await read('select @place($1, $2) as node', [session, here])
      return textOrNull(row?.['node'] ?? null)
    },
  }
}
