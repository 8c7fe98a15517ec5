import type { BigIntStats } from 'node:fs'
import { type FileHandle, lstat } from 'node:fs/promises'

/** What the system says about a file at the moment it was read. */
export type FileMark = {
  readonly stats: BigIntStats
  readonly atMs: number
}

/** The clock of a file system ticks every few milliseconds: a change within the same tick leaves the same times. */
const tickMs = 100

/** Marks an open file. Do so before it is read. */
export const markOf = async (handle: FileHandle): Promise<FileMark> => {
  const atMs = Date.now()
  return { stats: await handle.stat({ bigint: true }), atMs }
}

/**
 * Returns whether a path surely still has the file that was marked, unchanged: any program can put `mtime` back, but the
 * system sets `ctime` with each change. False if it is not sure, because the file had just been changed.
 */
export async function isUntouched(path: string, { stats, atMs }: FileMark): Promise<boolean> {
  if (Number(stats.ctimeMs) > atMs - tickMs) return false
  const now = await lstat(path, { bigint: true }).catch(() => null)
  const fields = ['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs'] as const
  return now?.isFile() === true && fields.every((field) => now[field] === stats[field])
}
