import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { roleOf } from '../../search/searched-event.ts'
import { wordsOf } from '../../search/words.ts'
import { searchCursorName } from '../rows/schema.ts'
import { createCallTool } from './call-tool.ts'
import { facets } from './facets.ts'
import { searchedBody } from './indexed-body.ts'
import { renewSearchTables } from './table.ts'

type Row = Record<string, unknown>

const recordsAtOnce = 64
/** However little time there is: what was said just now is found on a busy machine, too. */
const recordsAtLeast = 32

export interface SearchIndex {
  /** Whether there are records that the index has not seen. */
  isBehind(): boolean
  /** Takes records in until it has them all, which is true, or this moment has passed. Inside a transaction. */
  follow(untilMs: number): boolean
  /** Throws the index away; following makes it anew. Inside a transaction. */
  renew(): void
}

/** The words of the log, followed from a stored cursor. Works inside a transaction someone else begins. */
export function createSearchIndex(database: DatabaseSync): SearchIndex {
  const cursor = database.prepare('select pos from cursor where name = ?')
  const last = database.prepare('select max(pos) as pos from record')
  const moveCursor = database.prepare('insert or replace into cursor (name, pos) values (?, ?)')
  const after = database.prepare(`
    select record.pos, record.sid, record.at, record.type, record.ref, record.body, session.workspace
    from record join session using (sid) where record.pos > ? order by record.pos limit ${recordsAtOnce}`)
  const toolOf = createCallTool(database)
  // Prepared when first needed: a store whose index is damaged must open all the same.
  let put: StatementSync | null = null

  const cursorPos = (): number => Number(cursor.get(searchCursorName)?.['pos'] ?? 0)

  function take(row: Row): void {
    const role = roleOf(String(row['type']))
    const searched = role === null ? null : searchedBody(row['body'])
    if (role === null || searched === null || searched.text === '') return
    const { event, text } = searched
    const sid = Number(row['sid'])
    const tool = event.type === 'call.requested' ? event.tool : null
    const settled = event.type === 'call.settled' ? toolOf(sid, event.call) : tool
    const narrowedBy = [
      ...[facets.role(role), facets.workspace(String(row['workspace'])), facets.session(sid)],
      ...facets.moment(String(row['at'])),
      ...(settled === null ? [] : [facets.tool(settled)]),
    ]
    const words = wordsOf(text)
    put ??= database.prepare('insert into search (rowid, text, parts) values (?, ?, ?)')
    put.run(Number(row['pos']), words.text, `${words.parts} ${narrowedBy.join(' ')}`)
  }

  return {
    isBehind: () => Number(last.get()?.['pos'] ?? 0) > cursorPos(),

    follow(untilMs) {
      for (let pos = cursorPos(), count = 0; ; ) {
        const rows = after.all(pos)
        const taken = rows.findIndex((row) => {
          take(row)
          pos = Number(row['pos'])
          count += 1
          return count >= recordsAtLeast && performance.now() > untilMs
        })
        if (rows.length > 0) moveCursor.run(searchCursorName, pos)
        if (taken >= 0 && taken < rows.length - 1) return false
        if (rows.length < recordsAtOnce) return true
        if (taken >= 0) return false
      }
    },

    renew() {
      put = null
      renewSearchTables(database)
      moveCursor.run(searchCursorName, 0)
    },
  }
}
