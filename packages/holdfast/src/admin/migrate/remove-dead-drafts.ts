import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { systemErrorCode } from '../../system/system-error.ts'

/** A store that was being made, by the process whose number it names, and what SQLite keeps beside it. */
const ofDraft = /^\.new-(\d+)-[0-9a-z]+(-wal|-shm|-journal)?$/

/**
 * Removes what processes that died left of a store file they were making: it is empty, and never got its name. A store
 * of plain files does so itself when it is opened.
 */
export async function removeDeadDrafts({ kind, path }: DiskLocation): Promise<void> {
  if (kind !== 'sqlite') return
  const name = basename(path)
  for (const other of await namesIn(dirname(path))) {
    const [, pid] = (other.startsWith(name) && ofDraft.exec(other.slice(name.length))) || []
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(dirname(path), other), { force: true })
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** One that took its number may be another: then its draft stays. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH'
  }
}
