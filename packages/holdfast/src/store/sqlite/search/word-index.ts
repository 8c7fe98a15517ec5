import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { roleOf } from '../../search/searched-event.ts'
import { wordsOf } from '../../search/words.ts'
import { searchCursorName } from '../rows/schema.ts'
import { filterTokens } from './filter-tokens.ts'
import { renewIndexTables } from './index-tables.ts'
import { createToolFinder, decodeIndexedEvent } from './indexed-event.ts'

type Row = Record<string, unknown>

const pageRecords = 64
/** Indexed in any case, so that the newest messages are found on a busy machine too. */
const recordsMin = 32

export interface WordIndex {
  /** Returns whether there are records that are not indexed yet. */
  isBehind(): boolean
  /** Indexes records until none is left (true) or the time is over. The caller begins the transaction. */
  extend(untilMs: number): boolean
  /** Empties the index; `extend` fills it again. The caller begins the transaction. */
  reset(): void
}

/** Indexes the words of the log, from a stored cursor on. */
export function createWordIndex(database: DatabaseSync): WordIndex {
  const cursor = database.prepare('select pos from cursor where name = ?')
  const last = database.prepare('select max(pos) as pos from record')
  const moveCursor = database.prepare('insert or replace into cursor (name, pos) values (?, ?)')
  const after = database.prepare(`
    select record.pos, record.sid, record.at, record.type, record.body, session.workspace
    from record join session using (sid) where record.pos > ? order by record.pos limit ${pageRecords}`)
  const findTool = createToolFinder(database)
  // Prepared on first use: a store with a damaged index must open all the same.
  let insert: StatementSync | null = null

  const cursorPos = (): number => Number(cursor.get(searchCursorName)?.['pos'] ?? 0)

  function add(row: Row): void {
    const role = roleOf(String(row['type']))
    const indexed = role === null ? null : decodeIndexedEvent(row['body'])
    if (role === null || indexed === null || indexed.text === '') return
    const sid = Number(row['sid'])
    const tool = findTool(sid, indexed.event)
    const tokens = [
      ...[filterTokens.role(role), filterTokens.workspace(String(row['workspace'])), filterTokens.session(sid)],
      ...filterTokens.time(String(row['at'])),
      ...(tool === null ? [] : [filterTokens.tool(tool)]),
    ]
    const words = wordsOf(indexed.text)
    insert ??= database.prepare('insert into search (rowid, text, parts) values (?, ?, ?)')
    insert.run(Number(row['pos']), words.text, `${words.parts} ${tokens.join(' ')}`)
  }

  return {
    isBehind: () => Number(last.get()?.['pos'] ?? 0) > cursorPos(),

    extend(untilMs) {
      for (let pos = cursorPos(), count = 0; ; ) {
        const rows = after.all(pos)
        const stoppedAt = rows.findIndex((row) => {
          add(row)
          pos = Number(row['pos'])
          count += 1
          return count >= recordsMin && performance.now() > untilMs
        })
        if (rows.length > 0) moveCursor.run(searchCursorName, pos)
        if (stoppedAt >= 0 && stoppedAt < rows.length - 1) return false
        if (rows.length < pageRecords) return true
        if (stoppedAt >= 0) return false
      }
    },

    reset() {
      insert = null
      renewIndexTables(database)
      moveCursor.run(searchCursorName, 0)
    },
  }
}
