import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { draftMark } from '../../disk.ts'
import { listNames } from '../../finding.ts'
import { createJsonlPaths, type FoundLog, findDirectoryFault, findLogs } from '../files/layout.ts'
import { loadLog } from '../log/load-log.ts'

/** Files about the process that holds the directory, and files that can be rebuilt. */
const skipped = new Set(['.lock', 'holder.json', 'nodes.json', 'catalogue.jsonl'])

/**
 * Copies a store directory, each log up to the end of a complete batch. Copies the newest sessions first, so that the
 * copy of a parent always has the records that its forks share.
 */
export async function copyDirectory(from: string, to: string): Promise<void> {
  const [source, target] = [createJsonlPaths(from), createJsonlPaths(to)]
  const refusal = await findDirectoryFault(source)
  if (refusal !== null) throw new HoldfastError(refusal)
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  const logs = (await findLogs(source)).toSorted((one, other) => (one.id < other.id ? 1 : -1))
  for (const log of logs) await copyLog(log, source.log(log.id, log.isShared), target.log(log.id, log.isShared))
  for (const name of await readdir(from)) {
    if (/^\w+\.json$/.test(name) && !skipped.has(name)) await copyPrivate(join(from, name), join(to, name))
  }
  await copyDrafts(source.drafts, target.drafts)
  await syncDirectory(to)
}

async function copyLog({ id, isShared }: FoundLog, from: string, to: string): Promise<void> {
  if (!(await copyPrivate(from, to))) return // removed in the meantime
  const loaded = await loadLog({ path: to, session: id, known: null, isShared, leavesTail: true })
  if (loaded === null || loaded.torn === null) return
  await using file = await open(to, 'r+')
  await file.truncate(loaded.end) // the batch was still being written
  await file.sync()
}

async function copyDrafts(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  for (const name of await listNames(from))
    if (!name.includes(draftMark)) await copyPrivate(join(from, name), join(to, basename(name)))
  await syncDirectory(to)
}

/** Copies a file with mode 0600; returns false if the source no longer exists. */
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
