import { lstat, lstatSync, type Stats, stat, statfs, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createSharedWork } from './shared-work.ts'

/** The file systems of a machine's own disks and memory on Linux, by their number. */
const localTypes: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x794c7630, // overlay, of containers
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
])
const foldersMax = 10_000

/** Returns the number of a folder's file system; null if there is no such folder, or it has none. */
const readType = (folder: string): Promise<number | null> =>
  new Promise((resolve) => statfs(folder, (error, found) => resolve(error === null ? found.type >>> 0 : null)))

/**
 * Creates functions that stat a path fast, to find out whether something is there. Each step of a turn asks for some thirty files, most of
 * them missing. On a local disk the answer takes two microseconds, and the way to another thread and back twenty
 * times as much, so there it is asked for at once. A network drive may not answer for seconds: its answer is waited for.
 * What was learned of a folder is kept, so a drive that is mounted over it later is asked at once too.
 */
export function createFastStat(typeOf: (folder: string) => Promise<number | null> = readType) {
  const known = new Map<string, boolean>()

  /** Finds out whether a folder is on a local disk; one that is missing would be where the folder above it is. */
  const learn = createSharedWork(async (folder): Promise<boolean> => {
    const type = await typeOf(folder)
    const above = dirname(folder)
    const isMissing = type === null && above !== folder
    const isLocal = isMissing ? (known.get(above) ?? (await learn(above))) : type !== null && localTypes.has(type)
    if (known.size >= foldersMax) known.clear()
    known.set(folder, isLocal)
    return isLocal
  })

  function isOnLocalDisk(path: string): boolean {
    const folder = dirname(path)
    const isLocal = known.get(folder)
    if (isLocal === undefined) void learn(folder) // until that is known, the answer is waited for
    return isLocal ?? false
  }

  return {
    /** Returns what is at a path, with links followed; null if there is nothing that can be reached. */
    findStats: (path: string): Promise<Stats | null> =>
      isOnLocalDisk(path)
        ? Promise.resolve(orNull(() => statSync(path, { throwIfNoEntry: false })))
        : new Promise((resolve) => stat(path, (error, found) => resolve(error === null ? found : null))), // a rejected promise would cost more
    /** The same for a link itself. */
    findLinkStats: (path: string): Promise<Stats | null> =>
      isOnLocalDisk(path)
        ? Promise.resolve(orNull(() => lstatSync(path, { throwIfNoEntry: false })))
        : new Promise((resolve) => lstat(path, (error, found) => resolve(error === null ? found : null))),
    /** Resolves when it is known whether a path is on a local disk. */
    learnAbout: (path: string): Promise<boolean> => learn(dirname(path)),
  }
}

function orNull(look: () => Stats | undefined): Stats | null {
  try {
    return look() ?? null
  } catch {
    return null
  }
}

export const { findStats, findLinkStats } = createFastStat()
