import type { Append, EncodedRecord } from '@holdfast/core/ports'
import { invariant, refOf, type Seq, type SessionId } from '@holdfast/protocol'
import { type Fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf } from '../../storage-fault.ts'
import * as faults from '../../store-faults.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { dropDraft } from '../files/side-files.ts'
import type { TrustFile } from '../files/trust-file.ts'
import { encodeLine, type LineRecord } from '../log/log-line.ts'
import type { OpenLog, OpenLogs } from '../log/open-logs.ts'
import { findRow, type SessionRow } from '../log/session-row.ts'
import type { SpendingLedger } from '../read/spending-ledger.ts'

type GroupAppenderDeps = {
  readonly paths: JsonlPaths
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly trusts: TrustFile
  /** Called with each charge that is on disk. */
  readonly charged: SpendingLedger['charged']
}

type Line = { readonly record: LineRecord; readonly text: string } & Pick<Append, 'charge' | 'commandHash'>
/** The appends of one group that were accepted so far, and the head after them. */
type Accepted = { head: Seq; readonly commands: Map<string, Seq>; readonly appends: Append[] }

/** Appends a group to a session's log with one write and one sync. Each append is accepted or refused on its own. */
export function createGroupAppender({ paths, rows, logs, catalogue, trusts, charged }: GroupAppenderDeps) {
  async function appendGroup(session: SessionId, group: readonly Append[]): Promise<readonly Result<void>[]> {
    const row = findRow(rows, session)
    if (row === null) return group.map(() => refuse(faults.sessionNotFound(session)))
    try {
      const log = await logs.get(row)
      const accepted: Accepted = { head: row.head, commands: new Map(), appends: [] }
      const answers = group.map((append): Result<void> => {
        const refusal = findRefusal(append, row, log, accepted)
        if (refusal !== null) return refuse(refusal)
        accept(append, accepted)
        return done
      })
      if (accepted.appends.length > 0) await write(row, log, accepted)
      return answers
    } catch (error) {
      const refusal = error instanceof HoldfastError ? error.toFault() : faultOf(error, paths.directory)
      return group.map(() => refuse(refusal))
    }
  }

  async function write(row: SessionRow, log: OpenLog, accepted: Accepted): Promise<void> {
    const { appends, head } = accepted
    const lines = encodeWrite(row.id, appends)
    const text = lines.map((line) => line.text).join('')
    const writeText = () => (text === '' ? Promise.resolve() : log.writer.write(text))
    const last = appends.at(-1)
    const lastLine = lines.at(-1)
    invariant(last !== undefined, 'an accepted group is not empty')
    const endsDraft = appends.some(({ clearDraft }) => clearDraft)
    if (last.trust.length > 0 && lastLine !== undefined) {
      const mark = { session: row.id, seq: head, crc: getChecksum(lastLine.text) }
      await trusts.change(last.entry.meta.workspace, last.trust, mark, writeText)
    } else {
      await writeText()
    }

    addToIndex(log, lines, log.writer.end() - Buffer.byteLength(text))
    for (const { charge } of appends) if (charge) charged(row.id, charge)
    for (const { clearDraft, after, records } of appends)
      if (clearDraft && records.length > 0) log.draftEndedAt = after + 1
    ;[row.head, row.bytes, row.entry] = [head, log.writer.end(), structuredClone(last.entry)]
    catalogue.changed(row)
    // An append without records leaves no line in the log: only the row and the draft file show it.
    const isWithoutLine = appends.some(({ records }) => records.length === 0)
    if (endsDraft) await dropDraft(paths, row.id, isWithoutLine)
    if (isWithoutLine) await catalogue.flush({ synced: true })
  }

  return appendGroup
}

/** Returns why an append is refused. A former owner always gets `fenced`; a repeated command gets its first seq. */
function findRefusal(append: Append, row: SessionRow, log: OpenLog, { head, commands }: Accepted): Fault | null {
  const { session, after, epoch, records } = append
  if (row.epoch !== epoch) return faults.fenced(session, epoch, row.epoch)
  for (const { record } of records) {
    const { commandId } = record
    const seen = commandId === undefined ? null : (log.index.seqOf(commandId) ?? commands.get(commandId) ?? null)
    if (seen !== null) return faults.commandSeen(seen)
  }
  return head === after ? null : faults.logMoved(session, after, head)
}

function accept(append: Append, accepted: Accepted): void {
  accepted.appends.push(append)
  for (const { record } of append.records) {
    if (record.commandId !== undefined) accepted.commands.set(record.commandId, record.seq)
  }
  accepted.head += append.records.length
}

type Batch = Pick<Append, 'after' | 'records' | 'clearDraft' | 'blobs' | 'charge' | 'commandHash'>

/**
 * Encodes the lines of one write. The first line of a batch carries the batch's side effects. Every line carries the
 * number of lines before and after it, because a disk may save any part of a write that was never synced.
 */
export function encodeWrite(session: SessionId, batches: readonly Batch[]): readonly Line[] {
  const total = batches.reduce((sum, { records }) => sum + records.length, 0)
  const lines: Line[] = []
  for (const { after, records, clearDraft, blobs, charge, commandHash } of batches) {
    for (const [index, encoded] of records.entries()) {
      const record = toLineRecord(encoded)
      const { seq } = record
      invariant(seq === after + index + 1, `a record at seq ${seq} does not follow ${after + index}`)
      const isFirst = index === 0
      const [prior, more] = [lines.length, total - lines.length - 1]
      const ofFirst = isFirst ? { endsDraft: clearDraft, blobs, charge, commandHash } : { endsDraft: false, blobs: [] }
      const text = encodeLine(session, record, { prior, more, ...ofFirst })
      lines.push({ record, charge: ofFirst.charge, commandHash: ofFirst.commandHash, text })
    }
  }
  return lines
}

function toLineRecord({ record, body }: EncodedRecord): LineRecord {
  const { seq, at, v, by = null, commandId = null, event } = record
  return { seq, at, type: event.type, v, by, commandId, ref: refOf(event), body }
}

/** Adds consecutive lines that start at `offset` to the index. */
export function addToIndex(log: Pick<OpenLog, 'index'>, lines: readonly Line[], offset: number): void {
  let at = offset
  for (const { record, charge, commandHash, text } of lines) {
    const bytes = Buffer.byteLength(text)
    log.index.add({ ...record, charge, commandHash }, { offset: at, bytes: bytes - 1 })
    at += bytes
  }
}

/** Returns the checksum at the end of a line. */
const getChecksum = (text: string): string => text.slice(-'00000000"}\n'.length, -'"}\n'.length)
