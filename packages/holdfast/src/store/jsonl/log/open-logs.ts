import type { OnProblem, ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { type LoadedLog, loadLog } from './load-log.ts'
import { type LogIndex, readChecksumAt, readRecordsAt } from './log-index.ts'
import { createLogWriter } from './log-writer.ts'
import type { SessionRow } from './session-row.ts'

/** A session's log in use: its index in memory and a writer for its file. */
export type OpenLog = {
  readonly index: LogIndex
  readonly writer: ReturnType<typeof createLogWriter>
  draftEndedAt: Seq
  read(seqs: readonly Seq[]): Promise<readonly ReadRecord[]>
  /** Returns the checksum of a record's line; null if the record is lost or does not exist. */
  crcAt(seq: Seq): Promise<string | null>
}

export type OpenLogs = ReturnType<typeof createOpenLogs>

type OpenLogsDeps = {
  readonly paths: JsonlPaths
  readonly openMax: number
  /** Returns whether nothing changes the session now. */
  readonly isIdle: (session: SessionId) => boolean
  readonly changed: (row: SessionRow) => void
  readonly onProblem: OnProblem
}

type ScannedLog = Pick<LoadedLog, 'index' | 'end' | 'lacksBreak' | 'draftEndedAt'>
type CachedLog = { readonly log: Promise<OpenLog>; isReady: boolean }

/** Caches the logs in use. Each is scanned once; the least recently used are closed. */
export function createOpenLogs({ paths, openMax, isIdle, changed, onProblem }: OpenLogsDeps) {
  // Most recently used last. A log that is still being scanned stays: a session must never have two.
  const logs = new Map<SessionId, CachedLog>()

  function openLog(row: SessionRow, { index, end, lacksBreak, draftEndedAt }: ScannedLog): OpenLog {
    const path = paths.log(row.id, row.isShared)
    return {
      index,
      writer: createLogWriter(path, { end, lacksBreak }),
      draftEndedAt,
      read: (seqs) => readRecordsAt(path, row.id, seqs, index),
      crcAt: (seq) => readChecksumAt(path, row.id, index.positionOf(seq)),
    }
  }

  async function load(row: SessionRow): Promise<OpenLog> {
    const { id, isShared } = row
    const path = paths.log(id, isShared)
    const loaded = await loadLog({ path, session: id, known: row, isShared })
    if (loaded === null) throw new HoldfastError(storageFault(path, 'replaced'))
    reportTornTail(loaded, onProblem)
    if (row.head !== loaded.index.head() || row.bytes !== loaded.end) {
      ;[row.head, row.bytes] = [loaded.index.head(), loaded.end]
      changed(row)
    }
    return openLog(row, loaded)
  }

  async function release(session: SessionId): Promise<void> {
    const cached = logs.get(session)
    logs.delete(session)
    await (await cached?.log.catch(() => null))?.writer.close()
  }

  function releaseOldest(): void {
    for (const [session, { isReady }] of logs) {
      if (logs.size <= openMax) return
      if (isReady && isIdle(session)) void release(session)
    }
  }

  function cache(session: SessionId, log: Promise<OpenLog>): void {
    const cached: CachedLog = { log, isReady: false }
    logs.set(session, cached)
    log.then(
      () => {
        cached.isReady = true
        releaseOldest()
      },
      () => {
        if (logs.get(session) === cached) logs.delete(session) // the next read tries again
      },
    )
  }

  return {
    release,
    /** Adds a log that was just written or scanned. */
    add: (row: SessionRow, loaded: ScannedLog): void => cache(row.id, Promise.resolve(openLog(row, loaded))),
    get(row: SessionRow): Promise<OpenLog> {
      const known = logs.get(row.id)
      if (known === undefined) {
        const log = load(row)
        cache(row.id, log)
        return log
      }
      logs.delete(row.id)
      logs.set(row.id, known)
      return known.log
    },
    async close(): Promise<void> {
      await Promise.all([...logs.keys()].map(release))
    },
  }
}

/** Reports that the end of a log was moved aside, and where to. */
export function reportTornTail({ torn }: LoadedLog, onProblem: OnProblem): void {
  if (torn === null) return
  const cause = new Error(`${torn.bytes} bytes of an append that was never acknowledged were moved to ${torn.path}.`)
  onProblem({ where: 'reading a log', cause })
}
