import type { Meta, SessionList } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { ok, type Result } from '@holdfast/protocol/result'
import { decodeListCursor } from '../../store/list-cursor.ts'
import { openSqliteReader, type SqliteReader } from '../../store/sqlite/sqlite-reader.ts'
import type { ArgsOf } from '../command-table.ts'
import { type Ended, ended, misused, refused } from '../ended.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'
import { readOwnedStatus } from '../read-owned-status.ts'
import { sessionTable } from '../session-table.ts'
import { wholeNumber } from '../whole-number.ts'
import { workspaceOf } from '../workspace.ts'

const limitDefault = 50
const limitMax = 1_000_000

/** Reads the catalogue of the store file, on this thread, and nothing else: it has to be quick. */
export async function ls({ flags }: ArgsOf<'ls'>, place: Place): Promise<Ended> {
  if (flags.all && flags.workspace !== undefined) return misused('--all and --workspace exclude each other.')
  const limit = flags.limit === undefined ? limitDefault : wholeNumber(flags.limit, 1, limitMax)
  if (limit === null) return misused(`--limit is a whole number from 1 to ${limitMax}, not '${flags.limit}'.`)
  if (!decodeListCursor(flags.cursor).ok)
    return misused(`--cursor is what an earlier list gave as its next, not '${flags.cursor}'.`)
  const workspace = flags.all ? null : workspaceOf(place, flags.workspace)
  if (workspace !== null && !workspace.ok) return refused(workspace.fault)

  const reader = openSqliteReader(place.home.storePath)
  if (!reader.ok) return refused(reader.fault)
  const { search, cursor } = flags
  const wanted = { ...(workspace && { workspace: workspace.value }), search, cursor, limit }
  const list = reader.value === null ? nothing : await readList(reader.value, wanted)
  reader.value?.close()
  if (!list.ok) return refused(list.fault)
  await tellList(list.value, { isJson: flags.json, where: workspace === null ? null : workspace.value, search }, place)
  return ended()
}

const nothing: Result<SessionList> = ok({ sessions: [], next: null })

type Wanted = {
  readonly workspace?: string
  readonly search: string | undefined
  readonly cursor: string | undefined
  readonly limit: number
}

/** One page of the store after another, until there are as many as asked for. */
async function readList(reader: SqliteReader, { limit, ...wanted }: Wanted): Promise<Result<SessionList>> {
  const sessions: Meta[] = []
  let { cursor } = wanted
  for (;;) {
    const page = reader.list({ ...wanted, cursor, limit: Math.min(limit - sessions.length, limits.listSessionsMax) })
    if (!page.ok) return page
    const { sessions: rows, next } = page.value
    const owned = await readOwnedStatus(rows, reader)
    if (!owned.ok) return owned
    sessions.push(...owned.value)
    if (next === null || sessions.length >= limit) return ok({ sessions, next })
    cursor = next
  }
}

type Told = { readonly isJson: boolean; readonly where: string | null; readonly search: string | undefined }

async function tellList(list: SessionList, { isJson, where, search }: Told, { out, err, now }: Place): Promise<void> {
  if (isJson) return out.write(`${toJsonText(list)}\n`)
  if (list.sessions.length > 0) await out.write(sessionTable(list.sessions, now(), out.paint))
  else {
    const what = search === undefined ? 'No sessions' : 'No sessions that fit'
    const place = where === null ? '' : ` in ${where}; --all lists those of every workspace`
    await err.write(`${what}${place}.\n`)
  }
  if (list.next !== null) await err.write(`There are more; --limit shows them.\n`)
}
