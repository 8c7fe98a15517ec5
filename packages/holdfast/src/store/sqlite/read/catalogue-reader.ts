import type { DatabaseSync } from 'node:sqlite'
import type { SessionName } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { readEntry } from '../rows/decode.ts'
import type { Questions } from '../rows/messages.ts'
import { createListReader, isListed } from './list-reader.ts'

type Row = Record<string, unknown>

const latestOfHalf = (pinned: 0 | 1): string => `
  select * from (
    select id, active_at, sid from session where workspace = ? and pinned = ${pinned} and ${isListed}
    order by active_at desc, sid desc limit 1)`
export const latestStatement = `${latestOfHalf(1)} union all ${latestOfHalf(0)} order by 2 desc, 3 desc limit 1`

/** Finds sessions by their rows; no statement here reads a record. */
export function createCatalogueReader(database: DatabaseSync): Pick<Questions, 'list' | 'find' | 'busy' | 'entry'> {
  const named = (where: string, rest = '') =>
    database.prepare(`select id from session where ${where} and purged_at is null ${rest}`)
  const byId = named('id = ?')
  const byPrefix = named('id >= ? and id < ?', `order by id limit ${limits.prefixMatchesMax}`)
  const byHandle = named('handle = ?')
  const byKey = named('key = ?')
  // The first row of each half of the list: a pinned session is not necessarily the latest.
  const latest = database.prepare(latestStatement)
  const busyRows = database.prepare('select id, owner from session where busy = 1 and trashed_at is null')
  const entryRow = database.prepare(`
    select meta, active_at, spoken, busy, head, base, owner, trashed_at from session where id = ? and purged_at is null`)

  function rowsFor(name: SessionName): readonly Row[] {
    switch (name.type) {
      case 'id':
        return byId.all(name.id)
      case 'prefix':
        return byPrefix.all(name.prefix, `${name.prefix}~`) // '~' sorts after every character of an id
      case 'handle':
        return byHandle.all(name.handle)
      case 'key':
        return byKey.all(name.key)
      case 'latest':
        return latest.all(name.workspace, name.workspace)
      default:
        return name satisfies never
    }
  }

  return {
    list: createListReader(database),

    find: (name) => rowsFor(name).map((row) => sessionIdOf(row['id'])),

    busy: () => busyRows.all().map((row) => ({ session: sessionIdOf(row['id']), owner: textOrNull(row['owner']) })),

    entry(session) {
      const row = entryRow.get(session)
      if (row === undefined) return null
      return {
        entry: readEntry(row),
        head: Number(row['head']),
        base: Number(row['base']),
        owner: textOrNull(row['owner']),
        trashedAt: row['trashed_at'] === null ? null : Number(row['trashed_at']),
      }
    },
  }
}

const sessionIdOf = (value: unknown) => String(value) as SessionId // the column holds nothing else
const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
