import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { draftMark } from '../../temporary-path.ts'
import { createJsonlPaths, type FoundLog, findDirectoryFault, findLogs } from '../files/layout.ts'
import { loadLog } from '../log/load-log.ts'

/** What speaks of the process that has the directory, or can be made anew. */
const left = new Set(['.lock', 'holder.json', 'nodes.json', 'catalogue.jsonl'])

/**
 * Copies a directory of logs, each up to the end of a whole batch. The youngest first: what a fork shares of its parent
 * was there when the fork was copied, and is still there when its parent is.
 */
export async function copyLogs(from: string, to: string): Promise<void> {
  const [source, target] = [createJsonlPaths(from), createJsonlPaths(to)]
  const refusal = await findDirectoryFault(source)
  if (refusal !== null) throw new HoldfastError(refusal)
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  const logs = (await findLogs(source)).toSorted((one, other) => (one.id < other.id ? 1 : -1))
  for (const log of logs) await copyLog(log, source.log(log.id, log.isShared), target.log(log.id, log.isShared))
  for (const name of await readdir(from)) {
    if (/^\w+\.json$/.test(name) && !left.has(name)) await copyPrivate(join(from, name), join(to, name))
  }
  await copyDrafts(source.drafts, target.drafts)
  await syncDirectory(to)
}

async function copyLog({ id, isShared }: FoundLog, from: string, to: string): Promise<void> {
  if (!(await copyPrivate(from, to))) return // removed meanwhile
  const loaded = await loadLog({ path: to, session: id, known: null, isShared, leavesTail: true })
  if (loaded === null || loaded.torn === null) return
  await using file = await open(to, 'r+')
  await file.truncate(loaded.end) // a batch that was being written: its end is not here
  await file.sync()
}

async function copyDrafts(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  for (const name of await namesIn(from))
    if (!name.includes(draftMark)) await copyPrivate(join(from, name), join(to, basename(name)))
  await syncDirectory(to)
}

/** Also a store without that folder is whole; one whose folder cannot be read is not copied as if it had none. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** False when there is nothing to copy any more. */
async function copyPrivate(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
  await using file = await open(to, 'r+')
  await file.chmod(0o600)
  await file.sync()
  return true
}
