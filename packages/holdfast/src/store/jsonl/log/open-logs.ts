import type { OnProblem, ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { type LoadedLog, loadLog } from './load-log.ts'
import type { LogIndex } from './log-index.ts'
import { createLogWriter, type LogWriter } from './log-writer.ts'
import { readChecksumAt, readRecordsAt } from './read-records.ts'
import type { SessionRow } from './session-row.ts'

/** A session's log while it is in use: its index in memory, its file to append to. */
export type OpenLog = {
  readonly index: LogIndex
  readonly writer: LogWriter
  draftEndedAt: Seq
  read(seqs: readonly Seq[]): Promise<readonly ReadRecord[]>
  /** The checksum of a record's line; null when it is lost or not there. */
  crcAt(seq: Seq): Promise<string | null>
}

/** The logs in use, each read through once; those that were not used for longest are let go. */
export interface OpenLogs {
  of(row: SessionRow): Promise<OpenLog>
  /** Takes a log that was just written, or read through. */
  take(row: SessionRow, loaded: Pick<LoadedLog, 'index' | 'end' | 'lacksBreak' | 'draftEndedAt'>): void
  letGo(session: SessionId): Promise<void>
  close(): Promise<void>
}

export type OpenLogsDeps = {
  readonly places: JsonlPaths
  readonly openMax: number
  /** Whether nobody changes this session now. */
  readonly isIdle: (session: SessionId) => boolean
  readonly changed: (row: SessionRow) => void
  readonly onProblem: OnProblem
}

type Held = { readonly log: Promise<OpenLog>; isReady: boolean }

export function createOpenLogs({ places, openMax, isIdle, changed, onProblem }: OpenLogsDeps): OpenLogs {
  // The last one used stands last. One that is being read through stays: there must never be two of a session.
  const logs = new Map<SessionId, Held>()

  function openLog(row: SessionRow, loaded: Parameters<OpenLogs['take']>[1]): OpenLog {
    const { index, end, lacksBreak, draftEndedAt } = loaded
    const path = places.log(row.id, row.isShared)
    return {
      index,
      writer: createLogWriter(path, { end, lacksBreak }),
      draftEndedAt,
      read: (seqs) => readRecordsAt(path, row.id, seqs, index),
      crcAt: (seq) => readChecksumAt(path, row.id, index.placeOf(seq)),
    }
  }

  async function load(row: SessionRow): Promise<OpenLog> {
    const { id, isShared } = row
    const path = places.log(id, isShared)
    const loaded = await loadLog({ path, session: id, known: row, isShared })
    if (loaded === null) throw new HoldfastError(storageFault(path, 'replaced'))
    reportTornTail(loaded, onProblem)
    if (row.head !== loaded.index.head() || row.bytes !== loaded.end) {
      ;[row.head, row.bytes] = [loaded.index.head(), loaded.end]
      changed(row)
    }
    return openLog(row, loaded)
  }

  async function letGo(session: SessionId): Promise<void> {
    const held = logs.get(session)
    logs.delete(session)
    await (await held?.log.catch(() => null))?.writer.close()
  }

  function letOldestGo(): void {
    for (const [session, { isReady }] of logs) {
      if (logs.size <= openMax) return
      if (isReady && isIdle(session)) void letGo(session)
    }
  }

  function hold(session: SessionId, log: Promise<OpenLog>): void {
    const held: Held = { log, isReady: false }
    logs.set(session, held)
    log.then(
      () => {
        held.isReady = true
        letOldestGo()
      },
      () => {
        if (logs.get(session) === held) logs.delete(session) // the next one tries again
      },
    )
  }

  return {
    letGo,
    take: (row, loaded) => hold(row.id, Promise.resolve(openLog(row, loaded))),
    of(row) {
      const known = logs.get(row.id)
      if (known === undefined) {
        const log = load(row)
        hold(row.id, log)
        return log
      }
      logs.delete(row.id)
      logs.set(row.id, known)
      return known.log
    },
    async close() {
      await Promise.all([...logs.keys()].map(letGo))
    },
  }
}

/** Says what was cut, and where it lies now. */
export function reportTornTail({ torn }: LoadedLog, onProblem: OnProblem): void {
  if (torn === null) return
  const cause = new Error(`${torn.bytes} bytes of an append that was never acknowledged were moved to ${torn.path}.`)
  onProblem({ where: 'reading a log', cause })
}
