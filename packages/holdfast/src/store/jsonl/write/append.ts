import type { Append, EncodedRecord } from '@holdfast/core/ports'
import { invariant, refOf, type Seq, type SessionId } from '@holdfast/protocol'
import { type Fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf } from '../../storage-fault.ts'
import * as faults from '../../store-faults.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { DraftFiles } from '../files/side-files.ts'
import type { TrustFile } from '../files/trust-file.ts'
import { encodeLine, type LineRecord } from '../log/log-line.ts'
import type { OpenLog, OpenLogs } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

export type GroupAppenderDeps = {
  readonly directory: string
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly drafts: DraftFiles
  readonly trusts: TrustFile
}

type Line = { readonly record: LineRecord; readonly text: string }
/** Of one group: what was taken so far, which the next one of it stands on. */
type Taken = { head: Seq; readonly commands: Map<string, Seq>; readonly appends: Append[] }

/** Appends a group to a session's log with one write and one sync, and refuses what does not fit, each on its own. */
export function createGroupAppender({ directory, rows, logs, catalogue, drafts, trusts }: GroupAppenderDeps) {
  async function appendGroup(session: SessionId, group: readonly Append[]): Promise<readonly Result<void>[]> {
    const row = rows.get(session)
    if (row === undefined || row.isShared) return group.map(() => refuse(faults.sessionNotFound(session)))
    try {
      const log = await logs.of(row)
      const taken: Taken = { head: row.head, commands: new Map(), appends: [] }
      const answers = group.map((append): Result<void> => {
        const refusal = refusalOf(append, row, log, taken)
        if (refusal !== null) return refuse(refusal)
        take(append, taken)
        return done
      })
      if (taken.appends.length > 0) await keep(row, log, taken)
      return answers
    } catch (error) {
      const refusal = error instanceof HoldfastError ? error.toFault() : faultOf(error, directory)
      return group.map(() => refuse(refusal))
    }
  }

  async function keep(row: SessionRow, log: OpenLog, taken: Taken): Promise<void> {
    const { appends } = taken
    const lines = encodeWrite(row.id, appends)
    const text = lines.map((line) => line.text).join('')
    const write = () => (text === '' ? Promise.resolve() : log.writer.write(text))
    const last = appends.at(-1)
    const lastLine = lines.at(-1)
    invariant(last !== undefined, 'a group that was taken is not empty')
    const endsDraft = appends.some(({ clearDraft }) => clearDraft)
    if (last.trust.length > 0 && lastLine !== undefined) {
      const mark = { session: row.id, seq: taken.head, crc: crcOf(lastLine.text) }
      await trusts.change(last.entry.meta.workspace, last.trust, mark, write)
    } else {
      await write()
    }

    addToIndex(log, lines, log.writer.end() - Buffer.byteLength(text))
    for (const { clearDraft, after, records } of appends)
      if (clearDraft && records.length > 0) log.draftEndedAt = after + 1
    ;[row.head, row.bytes, row.entry] = [taken.head, log.writer.end(), structuredClone(last.entry)]
    catalogue.changed(row)
    // Without a line to say so, the row and the draft's file are all there is to tell.
    const isUnsaid = appends.some(({ records }) => records.length === 0)
    if (endsDraft) await drafts.drop(row.id, isUnsaid)
    if (isUnsaid) await catalogue.flush({ synced: true })
  }

  return appendGroup
}

/** A former owner hears that it is fenced, whatever else is wrong; a repeated command hears where it stands. */
function refusalOf(append: Append, row: SessionRow, log: OpenLog, { head, commands }: Taken): Fault | null {
  const { session, after, epoch, records } = append
  if (row.epoch !== epoch) return faults.fenced(session, epoch, row.epoch)
  for (const { record } of records) {
    const { commandId } = record
    const seen = commandId === undefined ? null : (log.index.seqOf(commandId) ?? commands.get(commandId) ?? null)
    if (seen !== null) return faults.commandSeen(seen)
  }
  return head === after ? null : faults.logMoved(session, after, head)
}

function take(append: Append, taken: Taken): void {
  taken.appends.push(append)
  for (const { record } of append.records) {
    if (record.commandId !== undefined) taken.commands.set(record.commandId, record.seq)
  }
  taken.head += append.records.length
}

type Batch = Pick<Append, 'after' | 'records' | 'clearDraft' | 'blobs'>

/**
 * The lines of one write. The first of each batch says what it does beside; each says how many come before and after it,
 * as a disk may keep any part of a write that was never synced.
 */
export function encodeWrite(session: SessionId, batches: readonly Batch[]): readonly Line[] {
  const total = batches.reduce((sum, { records }) => sum + records.length, 0)
  const lines: Line[] = []
  for (const { after, records, clearDraft, blobs } of batches) {
    for (const [index, one] of records.entries()) {
      const record = lineRecordOf(one)
      const { seq } = record
      invariant(seq === after + index + 1, `a record at seq ${seq} does not follow ${after + index}`)
      const isFirst = index === 0
      const [prior, more] = [lines.length, total - lines.length - 1]
      const marks = { prior, more, endsDraft: isFirst && clearDraft, blobs: isFirst ? blobs : [] }
      lines.push({ record, text: encodeLine(session, record, marks) })
    }
  }
  return lines
}

function lineRecordOf({ record, body }: EncodedRecord): LineRecord {
  const { seq, at, v, by = null, commandId = null, event } = record
  return { seq, at, type: event.type, v, by, commandId, ref: refOf(event), body }
}

/** Tells the index of lines that now stand one behind the other from `offset` on. */
export function addToIndex(log: Pick<OpenLog, 'index'>, lines: readonly Line[], offset: number): void {
  let at = offset
  for (const { record, text } of lines) {
    const bytes = Buffer.byteLength(text)
    log.index.add(record, { offset: at, bytes: bytes - 1 })
    at += bytes
  }
}

/** The checksum a line ends with. */
const crcOf = (text: string): string => text.slice(-'00000000"}\n'.length, -'"}\n'.length)
