import { resolve } from 'node:path'
import type { AreUsed, Blobs, OnProblem, SweepOptions } from '@holdfast/core/ports'
import { type Fault, HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { lockDirectory } from '../jsonl/files/directory-lock.ts'
import { createJsonlPaths, findDirectoryFault } from '../jsonl/files/layout.ts'
import type { FollowedLog } from '../sqlite/sqlite-store.ts'
import { faultOf } from '../storage-fault.ts'
import { type MirrorFiles, openMirrorFiles } from './mirror-files.ts'

export type MirrorOptions = {
  readonly log: FollowedLog
  readonly blobs: Blobs
  readonly directory: string
  readonly now: () => number
  readonly onProblem: OnProblem
}

/** A copy of all sessions as plain files, never more than a second behind. Its directory can be opened as a store. */
export interface Mirror {
  /** Resolves once all that was appended before is in the files; rejects when it cannot be. */
  caughtUp(): Promise<void>
  /** Removes the copies of bytes that no record refers to, as `Blobs.sweep` does. */
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<void>
  close(): Promise<void>
}

const everyMs = 250
const pageRecords = 1000

/**
 * Follows a store into a directory. Where another process mirrors there already this one waits for its end, as that one
 * writes the same. Refused: not_a_store, store_too_new, storage_error, session_locked when it is open as a store.
 */
export async function openMirror({ log, blobs, directory, now, onProblem }: MirrorOptions): Promise<Result<Mirror>> {
  const places = createJsonlPaths(resolve(directory))
  const name = `mirror:${places.directory}`
  let files: MirrorFiles | null = null
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  let told: string | null = null
  const inTurn = createSerialQueue()

  /** Takes the directory, if nobody has it, and makes good what was missed. */
  async function begin(): Promise<MirrorFiles | Fault> {
    ensurePrivateDirectory(places.directory)
    const refusal = await findDirectoryFault(places)
    if (refusal !== null) return refusal
    const locked = await lockDirectory(places.directory, now(), 'mirror')
    if (!locked.ok) return locked.fault
    try {
      const opened = await openMirrorFiles({ places, log, blobs, onProblem, lock: locked.value })
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
      await begun.keep(page)
      if (page.records.length > 0) await log.saveCursor(name, page)
      if (page.records.length < pageRecords) return
    }
  }

  const next = (): Promise<void> => inTurn(pass)

  /** A disk that fails is told once, and tried again until it takes what is owed. */
  async function tick(): Promise<void> {
    try {
      await next()
      told = null
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      if (told !== message) onProblem({ where: `the mirror in ${places.directory}`, cause })
      told = message
      await letGo() // it is read anew before anything is written to it
    }
    if (!isClosed) timer = setTimeout(() => void tick(), everyMs).unref()
  }

  async function letGo(): Promise<void> {
    const held = files
    files = null
    await held?.close().catch((cause) => onProblem({ where: `the mirror in ${places.directory}`, cause }))
  }

  try {
    const begun = await begin()
    if ('code' in begun && !isMirroredElsewhere(begun)) return refuse(begun)
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, places.directory))
  }
  let ticking = tick()
  return ok({
    caughtUp: next,
    sweep: (areUsed, options) =>
      inTurn(async () => {
        await pass() // the files of sessions that were removed go first, so that none refers to what is swept
        await files?.sweep(areUsed, options)
      }),
    async close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await ticking
      ticking = Promise.resolve()
      // What was appended last is in the files too.
      await next().catch((cause) => onProblem({ where: `the mirror in ${places.directory}`, cause }))
      await letGo()
    },
  })
}

const isMirroredElsewhere = ({ code, details }: Fault): boolean =>
  code === 'session_locked' && details?.['role'] === 'mirror'
