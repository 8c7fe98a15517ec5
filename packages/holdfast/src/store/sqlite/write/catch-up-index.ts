import { whileBusy } from '../file/busy-retry.ts'
import { openForReading } from '../file/database-file.ts'
import { searchCursorName } from '../rows/schema.ts'
import { createWriter } from './writer.ts'

const forMs = 1000

/**
 * Lets the word index follow where whoever wrote last ended before it had. A file that cannot be written, or is of an
 * earlier version, is searched as far as its index goes. Synchronous: for a command that looks and exits.
 */
export function catchUpIndex(path: string): void {
  if (!isBehind(path)) return
  const writer = createWriter({ path })
  writer.run([{ op: 'followSearch', forMs }])
  writer.close()
}

function isBehind(path: string): boolean {
  const database = openForReading(path)
  try {
    const behind = database.prepare(`
      select coalesce((select max(pos) from record), 0) > coalesce((select pos from cursor where name = ?), 0) as behind`)
    return whileBusy(() => behind.get(searchCursorName))?.['behind'] === 1
  } catch {
    return false // a damaged file, or one without an index: the search itself says so
  } finally {
    database.close()
  }
}
