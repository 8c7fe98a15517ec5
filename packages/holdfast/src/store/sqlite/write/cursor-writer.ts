import type { DatabaseSync } from 'node:sqlite'
import { done, type Result } from '@holdfast/protocol/result'
import type { WriteRequest } from '../rows/messages.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

type SaveCursor = Extract<WriteRequest, { readonly op: 'saveCursor' }>

/** How far followers of the log have read. Works inside a transaction someone else begins. */
export function createCursorWriter(database: DatabaseSync) {
  const removals = database.prepare('select pos from cursor where name = ?')
  const put = database.prepare('insert or replace into cursor (name, pos) values (?, ?)')
  const count = database.prepare(`
    insert into cursor (name, pos) values (?, 1) on conflict (name) do update set pos = pos + 1`)
  const lowerAll = database.prepare(`
    update cursor set pos = min(pos, (select coalesce(max(pos), 0) from record)) where name not in (?, ?)`)

  return {
    save({ name, pos, removals: seen }: SaveCursor): Result<undefined> {
      if (Number(removals.get(removalsName)?.['pos'] ?? 0) === seen) put.run(name, pos)
      return done
    },
    /** Tells who follows that the trash is another. */
    countTrashing(): void {
      count.run(trashingsName)
    },
    /** A position is given again once the records above it are gone: nobody may stand beyond the last. */
    lower(): void {
      count.run(removalsName)
      lowerAll.run(removalsName, trashingsName)
    },
  }
}
