import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fault } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { systemErrorCode } from '../system-error.ts'
import { syncDirectory } from './sync-directory.ts'

/** A draft older than this was left by a crash. */
const claimMsMax = 10_000
const waitMsMax = 3_000
const lookEveryMs = 20

/**
 * Replaces a file atomically, readable by its owner only. The draft has a fixed name and serves as a lock: a second process
 * waits, and then sees what the first wrote. The file is replaced only if `write` is called.
 */
export async function replaceAlone<Value>(
  path: string,
  work: (write: (text: string) => Promise<Result<undefined>>) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const draft = `${path}.new`
  const claimed = await claimInTime(draft)
  if (claimed === null) return taken(path)
  await using file = claimed
  try {
    return await work(async (text) => {
      await file.chmod(0o600)
      await file.writeFile(text)
      await file.sync()
      // We were suspended for so long that another process took over the draft.
      if (!(await isAt(draft, file))) return taken(path)
      await rename(draft, path)
      await syncDirectory(dirname(path))
      return done
    })
  } finally {
    if (await isAt(draft, file)) await rm(draft, { force: true })
  }
}

async function claimInTime(draft: string): Promise<FileHandle | null> {
  const until = performance.now() + waitMsMax
  while (performance.now() < until) {
    const claimed = await claim(draft)
    if (claimed !== null) return claimed
    if (await isLeft(draft)) await removeLeft(draft)
    else await delay(lookEveryMs)
  }
  return null
}

/** Creates a file; returns null if it exists. */
async function claim(name: string): Promise<FileHandle | null> {
  try {
    return await open(name, 'wx', 0o600)
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error
    return null
  }
}

/**
 * Removes an abandoned draft under a second lock, and checks its age again: of two processes that saw it, the later one
 * would otherwise remove the new draft of the earlier.
 */
async function removeLeft(draft: string): Promise<void> {
  const guard = `${draft}.left`
  const claimed = await claim(guard)
  if (claimed === null) {
    if (await isLeft(guard)) await rm(guard, { force: true })
    else await delay(lookEveryMs)
    return
  }
  await using _ = claimed
  if (await isLeft(draft)) await rm(draft, { force: true })
  await rm(guard, { force: true })
}

const isLeft = (name: string): Promise<boolean> =>
  stat(name).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > claimMsMax,
    () => false, // gone meanwhile: free to claim
  )

async function isAt(name: string, file: FileHandle): Promise<boolean> {
  const own = await file.stat({ bigint: true })
  return stat(name, { bigint: true }).then(
    ({ dev, ino }) => dev === own.dev && ino === own.ino,
    () => false, // the path does not exist
  )
}

const taken = (path: string): Result<never> =>
  refuse(fault('storage_error', `Another process is writing ${path}. Try again when it is done.`, { path }))
