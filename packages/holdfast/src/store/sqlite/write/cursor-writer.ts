import type { DatabaseSync } from 'node:sqlite'
import { done } from '@holdfast/protocol/result'
import { probeText } from '../../disk.ts'
import type { Changes } from '../rows/messages.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

/** No follower has this name: if a crash leaves the row, it does no harm, and the next probe removes it. */
const probeName = `probe ${probeText}`

export interface CursorWriter extends Pick<Changes, 'saveCursor' | 'beginProbe' | 'endProbe'> {
  /** Counts a change of the trash, which followers compare. */
  countTrashing(): void
  /** SQLite reuses the positions of removed records, so no cursor may stay beyond the last record. */
  lowerCursors(): void
}

/** Writes how far the followers of the log have read. The caller begins the transaction. */
export function createCursorWriter(database: DatabaseSync): CursorWriter {
  const posByName = database.prepare('select pos from cursor where name = ?')
  const put = database.prepare('insert or replace into cursor (name, pos) values (?, ?)')
  const remove = database.prepare('delete from cursor where name = ?')
  const count = database.prepare(`
    insert into cursor (name, pos) values (?, 1) on conflict (name) do update set pos = pos + 1`)
  const lowerAll = database.prepare(`
    update cursor set pos = min(pos, (select coalesce(max(pos), 0) from record)) where name not in (?, ?)`)

  return {
    saveCursor(name, pos, removals) {
      if (Number(posByName.get(removalsName)?.['pos'] ?? 0) === removals) put.run(name, pos)
      return done
    },
    // A probe finds out whether the file can be written. Its row is committed, then removed in another transaction:
    // within one, nothing would reach the disk.
    beginProbe() {
      put.run(probeName, 0)
      return done
    },
    endProbe() {
      remove.run(probeName)
      return done
    },
    countTrashing() {
      count.run(trashingsName)
    },
    lowerCursors() {
      count.run(removalsName)
      lowerAll.run(removalsName, trashingsName)
    },
  }
}
