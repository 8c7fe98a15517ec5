import type { Catalogue, SessionLookup } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import type { Database, SqlRow } from '../connect/connect.ts'
import { numberOrNull, readEntry, textOrNull } from './columns.ts'
import { createListReader, isListed, isNoSubagent } from './list-reader.ts'

const named = (where: string, rest = ''): string =>
  `select id from @session where ${where} and purged_at is null ${rest}`
const ofTenant = (place: string): string => `(${place}::text is null or tenant = ${place})`
const byPrefix = named(`id >= $1 and id < $2 and ${ofTenant('$3')}`, `order by id limit ${limits.prefixMatchesMax}`)

// The first row of each half of the list: a pinned session is not necessarily the latest.
const latestOfHalf = (pinned: 0 | 1): string => `
  (select id, active_at, sid from @session where workspace = $1 and ${ofTenant('$2')} and pinned = ${pinned} and ${isListed} and ${isNoSubagent}
    order by active_at desc, sid desc limit 1)`
const latest = `${latestOfHalf(1)} union all ${latestOfHalf(0)} order by 2 desc, 3 desc limit 1`

const idOf = (row: SqlRow): SessionId => String(row['id']) as SessionId // the column holds nothing else

/** Finds sessions by their rows; no statement here reads a record. */
export function createCatalogueReader({ read }: Database): Pick<Catalogue, 'list' | 'find' | 'busy' | 'entry'> {
  function rowsFor(name: SessionLookup, tenant: string | null): Promise<readonly SqlRow[]> {
    switch (name.type) {
      case 'id':
        return read(named(`id = $1 and ${ofTenant('$2')}`), [name.id, tenant])
      case 'prefix':
        return read(byPrefix, [name.prefix, `${name.prefix}~`, tenant]) // '~' sorts after every character of an id
      case 'handle':
        return read(named(`handle = $1 and ${ofTenant('$2')}`), [name.handle, tenant])
      case 'key':
        return read(named(`key = $1 and coalesce(tenant, '') = coalesce($2, '')`), [name.key, tenant])
      case 'latest':
        return read(latest, [name.workspace, tenant])
      default:
        return name satisfies never
    }
  }

  return {
    list: createListReader(read),
    find: async (name, tenant) => (await rowsFor(name, tenant ?? null)).map(idOf),
    async busy() {
      const rows = await read('select id, owner from @session where busy and trashed_at is null')
      return rows.map((row) => ({ session: idOf(row), owner: textOrNull(row['owner']) }))
    },
    async entry(session) {
      const [row] = await read(
        `select meta, active_at, spoken, busy, head, base, owner, trashed_at, tenant
        from @session where id = $1 and purged_at is null`,
        [session],
      )
      if (row === undefined) return null
      return {
        entry: readEntry(row),
        head: Number(row['head']),
        base: Number(row['base']),
        owner: textOrNull(row['owner']),
        trashedAt: numberOrNull(row['trashed_at']),
        ...(row['tenant'] !== null && { tenant: String(row['tenant']) }),
      }
    },
  }
}
