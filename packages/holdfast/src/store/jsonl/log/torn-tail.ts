import { link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../temporary-path.ts'

export type TornTail = { readonly path: string; readonly bytes: number }

const chunkBytes = 1024 * 1024

/** Moves what follows `end` into a file beside it, `….torn-1`, and only then cuts it off: no byte is ever dropped. */
export async function moveTornTail(path: string, end: number): Promise<TornTail> {
  await using file = await open(path, 'r+')
  const draft = temporaryPath(path)
  let bytes = 0
  try {
    await using torn = await open(draft, 'wx', 0o600)
    await torn.chmod(0o600)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, end + bytes)
      if (bytesRead === 0) break
      await torn.writeFile(chunk.subarray(0, bytesRead))
      bytes += bytesRead
    }
    await torn.sync()
    const kept = await linkUnusedName(draft, path)
    await syncDirectory(dirname(path))
    await file.truncate(end)
    await file.sync()
    return { path: kept, bytes }
  } finally {
    await rm(draft, { force: true })
  }
}

/** Gives a file a second name beside `path`, `….torn-1` (or as `mark` says) or the next one that is free. */
export async function linkUnusedName(draft: string, path: string, mark: 'torn' | 'damaged' = 'torn'): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      await link(draft, `${path}.${mark}-${number}`)
      return `${path}.${mark}-${number}`
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
  }
}
