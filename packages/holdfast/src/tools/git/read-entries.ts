import { ownSlice } from '@holdfast/core/ports'

/** Entries that are read in one slice: they take a few milliseconds. */
const entriesPerSlice = 500

/**
 * Yields the entries of what git printed with `-z`, some in each slice. Latin-1 keeps the bytes of a name that
 * is not UTF-8. `git status` lists a repository of 100,000 files before and after each command.
 */
export async function* sliceEntries(
  printed: Buffer,
  encoding: 'latin1' | 'utf8' = 'utf8',
): AsyncGenerator<readonly string[]> {
  let entries: string[] = []
  for (let from = 0; from < printed.length; ) {
    const found = printed.indexOf(0, from)
    const end = found === -1 ? printed.length : found
    entries.push(printed.toString(encoding, from, end))
    from = end + 1
    if (entries.length < entriesPerSlice) continue
    yield entries
    entries = []
    await ownSlice()
  }
  yield entries
}

/** Whether git printed more entries than `max`. */
export function hasMoreEntries(printed: Buffer, max: number): boolean {
  let count = 0
  for (let at = printed.indexOf(0); at !== -1; at = printed.indexOf(0, at + 1)) if (++count > max) return true
  return false
}
