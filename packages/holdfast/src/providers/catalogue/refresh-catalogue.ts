import { dirname, join } from 'node:path'
import { ok, type Result } from '@holdfast/protocol'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { type GivenCatalogue, readGivenCatalogue } from './catalogue-file.ts'
import type { ModelCatalogue } from './facts-by-model.ts'

export const refreshedPath = (dataDir: string): string => join(dataDir, 'models.json')

export type CatalogueRefresh = GivenCatalogue & {
  /** Where the facts are kept. */
  readonly kept: string
  readonly pid: number
}

/**
 * Takes the facts of a file in place of those of the last one. It is understood whole before anything is replaced. For
 * commands, which may write while nothing waits for them.
 */
export async function refreshCatalogue({ kept, pid, ...given }: CatalogueRefresh): Promise<Result<ModelCatalogue>> {
  const read = await readGivenCatalogue(given)
  if (!read.ok) return read
  ensurePrivateDirectory(dirname(kept))
  const file = openAtomicFile(kept, { replaces: true, pid })
  if (!file.ok) return file
  await file.value.write(`${JSON.stringify(read.value, null, 2)}\n`)
  const written = file.value.keep()
  return written.ok ? ok(read.value) : written
}
