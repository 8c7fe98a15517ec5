import { resolve } from 'node:path'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { diskStoreOf } from '../../sessions/resolve-store.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, ended, exitCodes, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

/** Copies the store as it is now, whoever writes in it. */
export async function backup({ words, flags }: ArgsOf<'backup'>, place: CliContext): Promise<Ended> {
  const [to = ''] = words
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const { backup: run } = await import('../../../admin/backup/backup-store.ts')
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
