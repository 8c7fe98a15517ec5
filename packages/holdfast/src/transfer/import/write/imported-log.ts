import { blobsOf, type Folded, fold, type SessionState } from '@holdfast/core'
import type { CatalogueEntry, EncodedRecord } from '@holdfast/core/ports'
import {
  type BlobHash,
  type Event,
  eventVersion,
  invariant,
  type Recorded,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'

/** One write of an import ends after this many records or characters, at the end of a turn. */
const batchRecords = 2000
const batchChars = 1024 * 1024
/** A very long turn is cut after this many times as much, so that no write grows with the session. */
const longTurn = 4

/** Records that are written at once, and the row they fold to. */
export type LogBatch = {
  readonly records: readonly EncodedRecord[]
  readonly entry: CatalogueEntry
  readonly blobs: readonly BlobHash[]
  /** Whether the import added these records; they do not count when the source is compared with what is stored. */
  readonly isAdded: boolean
}

export type LogStart = { readonly session: SessionId; readonly parent: SessionId | null; readonly base: Seq }

/** The records of an imported session with their original times, folded as they are added. */
export interface ImportedLog extends LogStart {
  /** Returns the fold of all records. */
  folded(): Folded
  /** Returns the seq the next record gets. */
  nextSeq(): Seq
  add(event: Event, at: number): Seq
  /** Adds an original record unchanged. Throws if it does not fold. */
  addRecord(record: Recorded): void
  /** Ends the records of the source: those that follow are added by the import. */
  endSource(): void
  /** Returns the full batches and forgets them, so that a long session is never whole in memory. */
  takeFull(): readonly LogBatch[]
  /** Returns all that is left, and forgets it. */
  takeAll(): readonly LogBatch[]
}

/** Creates an empty log. The fold validates each record as for any other session. */
export function createImportedLog({ session, parent, base }: LogStart): ImportedLog {
  let folded: Folded | null = null
  let batches: LogBatch[] = []
  let records: EncodedRecord[] = []
  let chars = 0
  let count = 0
  let isAdded = false
  /** Most records have the time of the one before. */
  let time = { at: Number.NaN, text: '' }

  const endBatch = (): void => {
    if (records.length === 0 || folded === null) return
    const blobs = [...new Set(records.flatMap(({ record }) => blobsOf(record.event)))]
    batches.push({ records, entry: folded.row.entry, blobs, isAdded })
    records = []
    chars = 0
  }
  const addRecord = (record: Recorded): void => {
    folded = fold(folded, session, record)
    const body = JSON.stringify(record.event)
    records.push({ record, body })
    chars += body.length
    count++
    const size = Math.max(records.length / batchRecords, chars / batchChars)
    if (size >= 1 && mayEnd(folded.state, size >= longTurn)) endBatch()
  }
  const takeFull = (): readonly LogBatch[] => {
    const taken = batches
    batches = []
    return taken
  }
  return {
    session,
    parent,
    base,
    addRecord,
    takeFull,
    // Not getters: V8 would make a hidden class for each log, and with it keep the log and its texts until a full collection.
    nextSeq: () => base + count + 1,
    folded() {
      invariant(folded, 'a session begins with a record')
      return folded
    },
    add(event, at) {
      const seq = base + count + 1
      const complete = event.type === 'turn.ended' && folded ? { ...event, ...getLineLength(folded) } : event
      if (at !== time.at) time = { at, text: new Date(at).toISOString() }
      addRecord({ seq, at: time.text, v: eventVersion[event.type], event: complete })
      return seq
    },
    endSource() {
      endBatch()
      isAdded = true
    },
    takeAll() {
      endBatch()
      return takeFull()
    },
  }
}

/**
 * Returns whether a batch may end in this state. A crash can leave the session there, and a store of plain files lists
 * it then: it is idle with an empty queue, unless its turn is very long.
 */
const mayEnd = ({ turn, queue }: SessionState, isLong: boolean): boolean =>
  isLong || (turn.phase === 'idle' && queue.length === 0)

const getLineLength = ({ state }: Folded) => ({ messages: state.messages, tokens: state.tokens })
