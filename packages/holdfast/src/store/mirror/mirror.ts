import { resolve } from 'node:path'
import type { AreUsed, Blobs, OnProblem, SweepOptions } from '@holdfast/core/ports'
import { errorMessage, type Fault, HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { lockDirectory } from '../jsonl/files/directory-lock.ts'
import { createJsonlPaths, findDirectoryFault } from '../jsonl/files/layout.ts'
import type { FollowedLog } from '../sqlite/sqlite-store.ts'
import { faultOf } from '../storage-fault.ts'
import { type MirrorFiles, openMirrorFiles } from './mirror-files.ts'

type MirrorOptions = {
  readonly log: FollowedLog
  readonly blobs: Blobs
  readonly directory: string
  readonly now: () => number
  readonly onProblem: OnProblem
}

/** A copy of all sessions as plain files, at most a second behind. Its directory can be opened as a store. */
export interface Mirror {
  /** Resolves once all earlier appends are in the files. Rejects if they cannot be written. */
  caughtUp(): Promise<void>
  /** Removes the copies of blobs that no record refers to, like `Blobs.sweep`. */
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<void>
  /** Writes what is missing and closes the files. */
  close(): Promise<void>
}

const everyMs = 250
const pageRecords = 1000

/**
 * Mirrors a store into a directory. If another process mirrors into it already, this one waits until that process ends.
 * Refused: not_a_store, store_too_new, storage_error, session_locked if the directory is open as a store.
 */
export async function openMirror({ log, blobs, directory, now, onProblem }: MirrorOptions): Promise<Result<Mirror>> {
  const paths = createJsonlPaths(resolve(directory))
  const name = `mirror:${paths.directory}`
  let files: MirrorFiles | null = null
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  let reported: string | null = null
  const oneByOne = createSerialQueue()

  /** Locks the directory, unless another process has it, and opens its files. */
  async function begin(): Promise<MirrorFiles | Fault> {
    ensurePrivateDirectory(paths.directory)
    const refusal = await findDirectoryFault(paths)
    if (refusal !== null) return refusal
    const locked = await lockDirectory(paths.directory, now(), 'mirror')
    if (!locked.ok) return locked.fault
    try {
      const opened = await openMirrorFiles({ paths, log, blobs, onProblem, lock: locked.value })
      files = opened
      return opened
    } catch (error) {
      locked.value.release()
      throw error
    }
  }

  async function pass(): Promise<void> {
    const begun = files ?? (await begin())
    if ('code' in begun) {
      if (isMirroredElsewhere(begun)) return
      throw new HoldfastError(begun)
    }
    for (;;) {
      const page = await log.follow(name, pageRecords)
      await begun.copy(page)
      if (page.records.length > 0) await log.saveCursor(name, page)
      if (page.records.length < pageRecords) return
    }
  }

  const next = (): Promise<void> => oneByOne(pass)

  /** Reports a failing disk once, and tries again until it works. */
  async function tick(): Promise<void> {
    try {
      await next()
      reported = null
    } catch (cause) {
      const message = errorMessage(cause)
      if (reported !== message) onProblem({ where: `the mirror in ${paths.directory}`, cause })
      reported = message
      await closeFiles() // the next pass reads them again before it writes
    }
    if (!isClosed) timer = setTimeout(() => void tick(), everyMs).unref()
  }

  async function closeFiles(): Promise<void> {
    const open = files
    files = null
    await open?.close().catch((cause) => onProblem({ where: `the mirror in ${paths.directory}`, cause }))
  }

  try {
    const begun = await begin()
    if ('code' in begun && !isMirroredElsewhere(begun)) return refuse(begun)
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, paths.directory))
  }
  let ticking = tick()
  return ok({
    caughtUp: next,
    sweep: (areUsed, options) =>
      oneByOne(async () => {
        await pass() // first removes the files of removed sessions, which refer to these blobs
        await files?.sweep(areUsed, options)
      }),
    async close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await ticking
      ticking = Promise.resolve()
      // Copies the last appends too.
      await next().catch((cause) => onProblem({ where: `the mirror in ${paths.directory}`, cause }))
      await closeFiles()
    },
  })
}

const isMirroredElsewhere = ({ code, details }: Fault): boolean =>
  code === 'session_locked' && details?.['role'] === 'mirror'

/** Returns the blobs of a store with a mirror: a sweep also sweeps the copies of the mirror. */
export function createMirroredBlobs(blobs: Blobs, mirror: Pick<Mirror, 'sweep'>, onProblem: OnProblem): Blobs {
  return {
    ...blobs,
    async sweep(areUsed, options) {
      const swept = await blobs.sweep(areUsed, options)
      // The mirror may be on another disk; its failure must not fail the store.
      await mirror
        .sweep(areUsed, options)
        .catch((cause) => onProblem({ where: 'sweeping the blobs of the mirror', cause }))
      return swept
    },
  }
}
