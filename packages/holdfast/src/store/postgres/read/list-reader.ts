import {
  type Catalogue,
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type Listed,
  type ListRequest,
} from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import { orThrow } from '@holdfast/protocol/result'
import { createMetaMatch, hidesSubagents } from '../../list-match.ts'
import type { Sql, SqlRow } from '../connect/connect.ts'
import { numberOrNull, textOrNull } from './columns.ts'

export const isListed = 'spoken and trashed_at is null and purged_at is null'
/** What the encoded `Meta` of a subagent has. In a text of it the quotes would be escaped. */
export const isNoSubagent = `strpos(meta, '"subagent":{') = 0`

/** Rows are read in pages of at least this many: a search may reject most of them. */
const rowsAtOnceMin = 64

/** Answers `list` from the session rows. */
export function createListReader(read: Sql): Catalogue['list'] {
  return async (request) => {
    let position: ListCursor = orThrow(decodeListCursor(request.cursor))
    const matchesMeta = createMetaMatch(request)
    const count = Math.max(request.limit + 1, rowsAtOnceMin)
    const found: Listed[] = []
    for (;;) {
      const { statement, values } = listStatement(request, position, count)
      const rows = await read(statement, values)
      for (const row of rows) {
        const listed = toListed(row)
        position = listed.position
        if (matchesMeta === null || matchesMeta(listed.meta)) found.push(listed)
        if (found.length > request.limit) break
      }
      if (found.length > request.limit || rows.length < count) break
    }
    const next = found.length > request.limit ? (found[request.limit - 1]?.position ?? null) : null
    return { sessions: found.slice(0, request.limit), next: next === null ? null : encodeListCursor(next) }
  }
}

/** Writes the statement for the rows after a position. Its order follows an index. */
function listStatement(request: ListRequest, { pinned, at, order }: ListCursor, count: number) {
  const values: unknown[] = []
  const value = (one: unknown): string => `$${values.push(one)}`
  const { workspace, model, runningAt, startedFor, activeFrom, activeBefore, trashedBefore, tenant } = request
  const isTrash = request.trashed === true
  const conditions = [
    isTrash ? 'spoken and trashed_at is not null and purged_at is null' : isListed,
    isTrash
      ? `(trashed_at, sid) < (${value(at)}, ${value(order)})`
      : `(pinned, active_at, sid) < (${value(pinned)}, ${value(at)}, ${value(order)})`,
    hidesSubagents(request) ? isNoSubagent : null,
    tenant === undefined ? null : `tenant = ${value(tenant)}`,
    workspace === undefined ? null : `workspace = ${value(workspace)}`,
    // Rejects most rows of other models without parsing them.
    model === undefined ? null : `strpos(meta, ${value(`"model":${JSON.stringify(model)}`)}) > 0`,
    activeFrom === undefined ? null : `active_at >= ${value(activeFrom)}`,
    activeBefore === undefined ? null : `active_at < ${value(activeBefore)}`,
    request.pinned === undefined ? null : `pinned = ${value(request.pinned ? 1 : 0)}`,
    startedFor === undefined ? null : `started_for = ${value(startedFor)}`,
    runningAt === undefined ? null : `busy and owner = any(${value(runningAt)})`,
    trashedBefore === undefined ? null : `trashed_at < ${value(trashedBefore)}`,
  ].filter((condition) => condition !== null)
  const sort = isTrash ? 'trashed_at desc, sid desc' : 'pinned desc, active_at desc, sid desc'
  const statement = `
    select sid, meta, busy, owner, pinned, active_at, trashed_at from @session
    where ${conditions.join(' and ')} order by ${sort} limit ${value(count)}`
  return { statement, values }
}

function toListed(row: SqlRow): Listed {
  const [trashedAt, order] = [numberOrNull(row['trashed_at']), Number(row['sid'])]
  const pinned = trashedAt === null && row['pinned'] === 1 ? 1 : 0
  return {
    meta: JSON.parse(String(row['meta'])) as Meta, // encoded from a Meta
    busy: row['busy'] === true,
    owner: textOrNull(row['owner']),
    trashedAt,
    position: { pinned, at: trashedAt ?? Number(row['active_at']), order },
  }
}
