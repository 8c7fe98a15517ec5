import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { roleOf } from '../../search/searched-event.ts'
import { wordsOf } from '../../search/words.ts'
import { isBusy } from '../../storage-fault.ts'
import type { Row } from '../rows/columns.ts'
import { searchCursorName } from '../rows/schema.ts'
import { isIndexDamageWithin, renewIndexTables } from './index-tables.ts'
import { createToolFinder, decodeIndexedEvent, filterTokens } from './indexed-event.ts'

const pageRecords = 64
/** Indexed in any case, so that the newest messages are found on a busy machine too. */
const recordsMin = 32

export type WordIndex = ReturnType<typeof createWordIndex>

/** Indexes the words of the log, from a stored cursor on. The caller begins the transaction. */
export function createWordIndex(database: DatabaseSync) {
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
    /** Returns whether there are records that are not indexed yet. */
    isBehind: (): boolean => Number(last.get()?.['pos'] ?? 0) > cursorPos(),
    /** Indexes records until none is left (true) or the time is over. */
    extend(untilMs: number): boolean {
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
    /** Empties the index; `extend` fills it again. */
    reset(): void {
      insert = null
      renewIndexTables(database)
      moveCursor.run(searchCursorName, 0)
    },
  }
}

/** The index is extended in short slices, so that no append waits long. Under load there is a pause between slices. */
const sliceMs = 4
const pauseMs = 100
/** The pause is at least this many times as long as the slice, whose commit may take long: an import needs the writer. */
const pauseShare = 20
/** After this time without a write, slices follow each other without a pause. */
const quietMs = 20
const busyPauseMs = 30

/** Decides when the word index is extended. Runs on the writer's thread, between its groups. */
export function createIndexFollower(database: DatabaseSync, index: WordIndex) {
  let dueAtMs = Number.POSITIVE_INFINITY
  let wokenAtMs = 0
  let resets = 0

  /** Not synced: a crash loses the words and the cursor together, and the next slices add them again. */
  function runSlice(work: () => boolean): boolean {
    database.exec('pragma synchronous = normal; begin immediate')
    try {
      const isComplete = work()
      database.exec('commit')
      return isComplete
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    } finally {
      database.exec('pragma synchronous = full')
    }
  }

  /** Returns when the next slice is due. Throws if the disk failed, and if a new index fails like the old one. */
  function extend(): number {
    const startMs = performance.now()
    try {
      if (!index.isBehind()) return Number.POSITIVE_INFINITY
      if (runSlice(() => index.extend(performance.now() + sliceMs))) return Number.POSITIVE_INFINITY
    } catch (error) {
      if (isBusy(error)) return performance.now() + busyPauseMs
      if (!isIndexDamageWithin(error) || resets > 0) throw error
      resets += 1
      runSlice(() => {
        index.reset()
        return true
      })
    }
    const now = performance.now()
    return startMs - wokenAtMs > quietMs ? now : now + Math.max(pauseMs, pauseShare * (now - startMs))
  }

  return {
    /** Reports a possible write. */
    wake(): void {
      wokenAtMs = performance.now()
      if (dueAtMs === Number.POSITIVE_INFINITY) dueAtMs = wokenAtMs + pauseMs
    },
    /** Runs a slice if one is due. Returns in how many milliseconds to call it again. */
    rest(): number {
      if (performance.now() >= dueAtMs) dueAtMs = extend()
      return Math.max(0, dueAtMs - performance.now())
    },
  }
}
