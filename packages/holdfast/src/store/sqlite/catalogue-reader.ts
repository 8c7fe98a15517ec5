import type { DatabaseSync } from 'node:sqlite'
import type { ListRequest, SessionName } from '@holdfast/core/ports'
import type { Meta, SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { ok, type Result } from '@holdfast/protocol/result'
import { decodeListCursor, encodeListCursor } from '../list-cursor.ts'
import { createSearchMatch } from '../search-match.ts'
import type { ReadAnswers, StoredListed } from './request.ts'

type Row = Record<string, unknown>

const isListed = 'spoken = 1 and trashed_at is null and purged_at is null'

/** Finds sessions by their rows alone; no query here reads a record. */
export function createCatalogueReader(database: DatabaseSync) {
  // `order by` follows an index and its rowid: a page costs its own rows, however many sessions there are.
  const page = (where: string) =>
    database.prepare(`
      select sid, meta, busy, owner, active_at from session
      where ${where} ${isListed} and (active_at, sid) < (?, ?) order by active_at desc, sid desc`)
  const everywhere = page('')
  const inWorkspace = page('workspace = ? and')
  const named = (where: string, rest = '') =>
    database.prepare(`select id from session where ${where} and purged_at is null ${rest}`)
  const byId = named('id = ?')
  const byPrefix = named('id >= ? and id < ?', `order by id limit ${limits.prefixMatchesMax}`)
  const byHandle = named('handle = ?')
  const byKey = named('key = ?')
  const latest = named(`workspace = ? and ${isListed}`, 'order by active_at desc, sid desc limit 1')
  const busyRows = database.prepare('select id, owner from session where busy = 1')
  const entryRow = database.prepare(`
    select meta, workspace, active_at, spoken, busy, pinned, head, base, owner from session where id = ? and purged_at is null`)

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
        return latest.all(name.workspace)
      default:
        return name satisfies never
    }
  }

  return {
    list({ workspace, search, limit, cursor }: ListRequest): Result<ReadAnswers['list']> {
      const start = decodeListCursor(cursor)
      if (!start.ok) return start
      const { activeAt, order } = start.value
      const rows =
        workspace === undefined ? everywhere.iterate(activeAt, order) : inWorkspace.iterate(workspace, activeAt, order)

      const matches = search === undefined ? () => true : matcher(search)
      const sessions: StoredListed[] = []
      for (const row of rows) {
        if (!matches(String(row['meta']))) continue
        if (sessions.length === limit) {
          const last = sessions.at(-1)
          return ok({ sessions, next: last === undefined ? null : encodeListCursor(last.place) })
        }
        sessions.push({
          meta: String(row['meta']),
          busy: row['busy'] === 1,
          owner: textOrNull(row['owner']),
          place: { activeAt: Number(row['active_at']), order: Number(row['sid']) },
        })
      }
      return ok({ sessions, next: null })
    },

    find: (name: SessionName): ReadAnswers['find'] => rowsFor(name).map((row) => sessionIdOf(row['id'])),

    busy: (): ReadAnswers['busy'] =>
      busyRows.all().map((row) => ({ session: sessionIdOf(row['id']), owner: textOrNull(row['owner']) })),

    entry(session: string): ReadAnswers['entry'] {
      const row = entryRow.get(session)
      if (row === undefined) return null
      return {
        meta: String(row['meta']),
        workspace: String(row['workspace']),
        activeAt: Number(row['active_at']),
        spoken: row['spoken'] === 1 ? 1 : 0,
        busy: row['busy'] === 1 ? 1 : 0,
        pinned: row['pinned'] === 1 ? 1 : 0,
        head: Number(row['head']),
        base: Number(row['base']),
        owner: textOrNull(row['owner']),
      }
    },
  }
}

function matcher(search: string): (meta: string) => boolean {
  const matches = createSearchMatch(search)
  return (meta) => matches(JSON.parse(meta) as Meta) // written by us from a Meta
}

const sessionIdOf = (value: unknown) => String(value) as SessionId // the column takes nothing else
const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
