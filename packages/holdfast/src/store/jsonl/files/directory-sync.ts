import { syncDirectory } from '../../../system/files/sync-directory.ts'

/** Makes the names in a directory durable; who asks while a sync runs shares the next one. */
export interface DirectorySync {
  sync(): Promise<void>
}

export function createDirectorySync(directory: string): DirectorySync {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return {
    sync() {
      next ??= running
        .catch(() => undefined)
        .then(() => {
          running = syncDirectory(directory)
          next = null
          return running
        })
      return next
    },
  }
}
