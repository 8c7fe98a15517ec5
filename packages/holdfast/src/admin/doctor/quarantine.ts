import { randomUUID } from 'node:crypto'
import { chmod, copyFile, mkdir, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Quarantine } from '../../store/store-admin.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'

/** Makes the directory when the first thing is put there. */
export function createQuarantine(directory: string): Quarantine {
  const free = async (name: string): Promise<string> => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await chmod(directory, 0o700)
    return join(directory, `${name}.${randomUUID().slice(0, 8)}`)
  }
  return {
    async move(path) {
      await rename(path, await free(basename(path)))
      await syncDirectory(directory)
      await syncDirectory(dirname(path))
    },
    async copy(path) {
      const to = await free(basename(path))
      await copyFile(path, to)
      await using file = await open(to, 'r+')
      await file.chmod(0o600)
      await file.sync()
      await syncDirectory(directory)
    },
    async note(name, text) {
      await using file = await open(await free(name), 'wx', 0o600)
      await file.writeFile(text)
      await file.sync()
      await syncDirectory(directory)
    },
  }
}
