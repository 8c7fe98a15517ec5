import { unlessDamaged } from '../damage/skip-damaged-pages.ts'
import { openForReading, openForWriting } from '../file/database-file.ts'

const saidMax = 1000

/** `stale_index`: every page can be read, and SQLite can make an index anew. `damaged`: it cannot walk through the file. */
export type PageState = 'whole' | 'stale_index' | 'damaged'

/** How whole the file is but for the words in its search index, which are made anew in any case. */
export function pageStateOf(path: string): PageState {
  const database = openForReading(path)
  try {
    const said = unlessDamaged(
      () => database.prepare(`pragma integrity_check(${saidMax})`).all(),
      () => null,
    )
    if (said === null) return 'damaged'
    const wrong = said.map((row) => String(row['integrity_check'])).filter((what) => what !== 'ok' && !isOfWords(what))
    if (wrong.length === 0) return 'whole'
    return wrong.every(isOfIndex) ? 'stale_index' : 'damaged'
  } finally {
    database.close()
  }
}

export const isOfWords = (said: string): boolean => /fts5/i.test(said)
/** Rows that an index lacks or has too many of, not pages of it that cannot be read. */
export const isOfIndex = (said: string): boolean => /\bindex\b/.test(said) && !/\b(tree|page) \d/i.test(said)

export function reindex(path: string): void {
  const database = openForWriting(path)
  try {
    database.exec('reindex')
  } finally {
    database.close()
  }
}
