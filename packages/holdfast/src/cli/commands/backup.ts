import { resolve } from 'node:path'
import type { ArgsOf } from '../command-table.ts'
import { type Ended, ended, exitCodes, refused } from '../ended.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'
import { diskStoreOf } from '../place-store.ts'
import { currentDirectory } from '../workspace.ts'

/** Copies the store as it is now, whoever writes in it. */
export async function backup({ words, flags }: ArgsOf<'backup'>, place: Place): Promise<Ended> {
  const [to = ''] = words
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const { backup: run } = await import('../../backup/backup-store.ts')
  const made = await run(store.value, resolve(here.value, to))
  if (!made.ok) return refused(made.fault)
  const { url, sessions, records, lost, blobs, blobBytes, missingBlobs } = made.value
  if (flags.json) await place.out.write(`${toJsonText(made.value)}\n`)
  else
    await place.out.write(`${url}: ${sessions} sessions, ${records} records, ${blobs} files of ${blobBytes} bytes.\n`)
  if (lost > 0) await place.err.write(`${lost} records cannot be read; holdfast doctor tells which.\n`)
  for (const hash of missingBlobs) await place.err.write(`The file ${hash} is missing or damaged in the store.\n`)
  return ended(lost + missingBlobs.length > 0 ? exitCodes.failed : exitCodes.ok)
}
