import { whileBusy } from '../file/busy-retry.ts'
import { openForReading } from '../file/database-file.ts'
import { searchCursorName } from '../rows/schema.ts'
import { createWriter } from './writer.ts'

const forMs = 1000

/**
 * Indexes the records that the last writer did not get to. A file that is read-only or of an earlier version is searched
 * with the index it has. Synchronous: for a command that reads and exits.
 */
export function catchUpIndex(path: string): void {
  if (!isBehind(path)) return
  const writer = createWriter({ path })
  writer.run([['extendIndex', forMs]])
  writer.close()
}

function isBehind(path: string): boolean {
  using database = openForReading(path)
  try {
    const behind = database.prepare(`
      select coalesce((select max(pos) from record), 0) > coalesce((select pos from cursor where name = ?), 0) as behind`)
    return whileBusy(() => behind.get(searchCursorName))?.['behind'] === 1
  } catch {
    return false // the file is damaged or has no index: the search itself reports it
  }
}
