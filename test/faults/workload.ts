import { createHash } from 'node:crypto'
import type { Append, CatalogueEntry, EncodedRecord, NewSession, ReadRecord } from '@holdfast/core/ports'
import { type Event, Handle, SessionId, StepId, TurnNumber } from '@holdfast/protocol'
import { aMeta, createDice } from '@holdfast/testkit'

/** The number of a log. Its id, its records and its blobs are derived from the number. */
export type LogNumber = number

export const writerNode = 'faults'

const bornAtMs = Date.UTC(2026, 0, 1)
const words = ['keel', 'línea', '鯨', '🐋', '"quoted"', '\\ud83d', '\u0000', 'tab\there', 'end\n']
const batchMax = 3

export const sessionOf = (log: LogNumber): SessionId => SessionId.parse(`ses_0${String(log).padStart(25, '0')}`)

/** Returns texts of different lengths, some longer than a page of 4 KiB, all different. */
function textOf(log: LogNumber, seq: number): string {
  const dice = createDice(log * 1_000_003 + seq)
  const length = dice.chance(1, 6) ? 300 + dice.below(600) : 1 + dice.below(40)
  const said = Array.from({ length }, () => dice.pick(words))
  return `${log}/${seq} ${said.join(' ')}`
}

export function recordAt(log: LogNumber, seq: number): EncodedRecord {
  const text = textOf(log, seq)
  const turn = TurnNumber.parse(0)
  const event: Event = { type: 'text.said', turn, step: StepId.parse(1), text, provider: 'demo' }
  const at = new Date(bornAtMs + seq * 1000).toISOString()
  return { record: { seq, at, v: 1, event }, body: JSON.stringify(event) }
}

/** Returns the number of records in the append after this head. The first append of a session has one. */
export const batchAfter = (head: number): number => (head === 0 ? 1 : 1 + ((head * 7) % batchMax))

const recordsAfter = (log: LogNumber, head: number): readonly EncodedRecord[] =>
  Array.from({ length: batchAfter(head) }, (_, index) => recordAt(log, head + index + 1))

function rowAt(log: LogNumber, head: number): CatalogueEntry {
  const at = new Date(bornAtMs + head * 1000).toISOString()
  const handle = Handle.parse(`calm-harbor-${log}`)
  const meta = aMeta({ id: sessionOf(log), handle, title: `Log ${log}`, createdAt: at, lastMessageAt: at })
  return { meta: { ...meta, messageCount: head }, spoken: true, busy: false, activeAt: bornAtMs + log * 1000 }
}

export const newSessionOf = (log: LogNumber): NewSession => ({
  session: sessionOf(log),
  parent: null,
  base: 0,
  owner: writerNode,
  records: recordsAfter(log, 0),
  entry: rowAt(log, 1),
  blobs: [],
})

export const appendTo = (log: LogNumber, after: number, epoch: number): Append => ({
  session: sessionOf(log),
  after,
  epoch,
  records: recordsAfter(log, after),
  entry: rowAt(log, after + batchAfter(after)),
  clearDraft: false,
  blobs: [],
  trust: [],
})

/** Returns the bytes of the n-th blob of a log; every fourth is longer than one read of a stream. */
export function blobAt(log: LogNumber, n: number): Buffer {
  const block = createHash('sha256').update(`${log}/${n}`).digest()
  return Buffer.concat(Array.from({ length: n % 4 === 0 ? 4096 : 1 + (n % 40) }, () => block))
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Returns a digest of a record. Two records are equal if and only if their digests are. */
export function digestOf(record: Exclude<ReadRecord, { readonly lost: true }>): string {
  const { seq, at, v, by = null, commandId = null, event } = record
  return sha256(JSON.stringify([seq, at, v, by, commandId, event]))
}
