import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../disk.ts'

export type TornTail = { readonly path: string; readonly bytes: number }

const chunkBytes = 1024 * 1024

/** Copies the bytes after `end` to a file `….torn-1`, and only then truncates the log: no byte is ever lost. */
export async function moveTornTail(path: string, end: number): Promise<TornTail> {
  await using file = await open(path, 'r+')
  const temporary = temporaryPath(path)
  let bytes = 0
  try {
    await using torn = await open(temporary, 'wx', 0o600)
    await torn.chmod(0o600)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, end + bytes)
      if (bytesRead === 0) break
      await torn.writeFile(chunk.subarray(0, bytesRead))
      bytes += bytesRead
    }
    await torn.sync()
    const tornPath = await linkUnusedName(temporary, path)
    await syncDirectory(dirname(path))
    await file.truncate(end)
    await file.sync()
    return { path: tornPath, bytes }
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Links a file to the first unused name of `<path>.<mark>-1`, `-2` and so on. Returns that name. */
export async function linkUnusedName(file: string, path: string, mark: 'torn' | 'damaged' = 'torn'): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      await link(file, `${path}.${mark}-${number}`)
      return `${path}.${mark}-${number}`
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
  }
}
