import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { Event } from '@holdfast/protocol'
import { checksumOf } from '../../stored-record.ts'
import { checkColumns, decompressBody, numberOrNull, textOrNull } from '../rows/columns.ts'
import { isRecord, readRows, withPages } from './page-rows.ts'
import type { PageRow, PageValue } from './table-pages.ts'

/** A session that has lost its row, but still has records. */
type LostSession = {
  /** Its shortest record, to find its id. */
  readonly sample: readonly PageValue[]
  /** The first of its records that can be read. */
  readonly first: readonly PageValue[]
}

/**
 * Adds a row for each session whose row and entry in the index of ids are lost, from its records. Its id is found by its
 * checksums, as the id may be anywhere in the file; otherwise it gets a new one. Pages in `free` keep the records of
 * removed sessions, which must not come back. Returns the number of sessions, and the new ids.
 */
export function addLostSessions(path: string, copy: DatabaseSync, free: ReadonlySet<number>) {
  const known = new Set(
    copy
      .prepare('select sid from session')
      .all()
      .map(({ sid }) => Number(sid)),
  )
  const isLeft = (row: PageRow): boolean =>
    row.isListed && !free.has(row.page) && isRecord(row) && !known.has(sidOf(row)) && eventOf(row.values) !== null
  const lost = findLostSessions(path, isLeft)
  if (lost.size === 0) return { added: 0, renamed: [] }
  const taken = new Set(
    copy
      .prepare('select id from session')
      .all()
      .map(({ id }) => String(id)),
  )
  const ids = [...findIds(path)].filter((id) => !taken.has(id))
  const renamed = new Map<number, string>()
  for (const [sid, session] of lost) {
    const id = ids.find((one) => !('lost' in checkColumns(one, session.sample.slice(2)))) ?? null
    if (id === null) renamed.set(sid, createId(session.first))
    insertSession(copy, sid, id ?? createId(session.first), session.first)
  }
  for (const [sid, { first }] of lost) linkToParent(copy, sid, first)
  if (renamed.size > 0) addRenamedRecords(copy, renamed, readRows(path).filter(isLeft))
  return { added: lost.size, renamed: [...renamed.values()] }
}

const sidOf = ({ values }: PageRow): number => Number(values[1])
const seqOf = (values: readonly PageValue[]): number => Number(values[2])

/** Returns the event of a record's row; null if it is none. */
function eventOf(values: readonly PageValue[]): Event | null {
  try {
    const parsed = Event.safeParse(JSON.parse(decompressBody(values.at(-1))))
    return parsed.success && parsed.data.type === values[4] ? parsed.data : null
  } catch {
    return null
  }
}

function findLostSessions(path: string, isLeft: (row: PageRow) => boolean): ReadonlyMap<number, LostSession> {
  const lost = new Map<number, LostSession>()
  const lengthOf = (values: readonly PageValue[]): number => {
    const body = values.at(-1)
    return typeof body === 'string' || body instanceof Uint8Array ? body.length : 0
  }
  for (const row of readRows(path)) {
    if (!isLeft(row)) continue
    const { sample = row.values, first = row.values } = lost.get(sidOf(row)) ?? {}
    lost.set(sidOf(row), {
      sample: lengthOf(row.values) < lengthOf(sample) ? row.values : sample,
      first: seqOf(row.values) < seqOf(first) ? row.values : first,
    })
  }
  return lost
}

const idPattern = /ses_[0-7][0-9a-hjkmnp-tv-z]{25}/g
const idChars = 30

/** Returns every session id in the bytes of a file. One may continue on the next page. */
function findIds(path: string): ReadonlySet<string> {
  const found = new Set<string>()
  const texts = withPages(path, function* (readPage, pages) {
    for (let page = 1; page <= pages; page++) yield readPage(page)?.toString('latin1') ?? ''
  })
  let end = ''
  for (const text of texts) {
    for (const [id] of `${end}${text}`.matchAll(idPattern)) found.add(id)
    end = text.slice(1 - idChars)
  }
  return found
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns a new id. It depends on the record only, so that a check and a repair give a session the same id. */
function createId(record: readonly PageValue[]): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify(record.slice(1, -1)))
    .update(decompressBody(record.at(-1)))
  const digits = [...bytes.digest().subarray(0, 26)].map((byte, index) =>
    alphabet.charAt(byte % (index === 0 ? 8 : 32)),
  )
  return `ses_${digits.join('')}`
}

/** The next check finds that the row is a placeholder and restores it from the log. */
function insertSession(copy: DatabaseSync, sid: number, id: string, first: readonly PageValue[]): void {
  const event = eventOf(first)
  // No real handle has this form, so it cannot conflict.
  const handle = event?.type === 'session.started' ? event.handle : `-${sid}`
  const base = event?.type === 'session.started' ? seqOf(first) - 1 : 0
  const put = copy.prepare(`
    insert or ignore into session (sid, id, handle, base, head, epoch, workspace, active_at, spoken, meta)
    values (?, ?, ?, ?, ?, 1, '', 0, 1, ?)`)
  const meta = JSON.stringify({ id, handle })
  const isPut = put.run(sid, id, handle, base, base, meta).changes > 0
  if (!isPut) put.run(sid, id, `-${sid}`, base, base, meta) // another session has its handle
}

/** A fork names the session that it shares records with, by its id. */
function linkToParent(copy: DatabaseSync, sid: number, first: readonly PageValue[]): void {
  const event = eventOf(first)
  const parent = event?.type === 'session.started' ? event.fork?.lineage.at(-1) : undefined
  if (parent === undefined) return
  copy
    .prepare('update session set parent = (select sid from session where id = ?), base = ? where sid = ?')
    .run(parent.session, parent.upTo, sid)
}

/** Adds the records of sessions with a new id, which is a part of their checksums. */
function addRenamedRecords(copy: DatabaseSync, renamed: ReadonlyMap<number, string>, rows: Iterable<PageRow>): void {
  const insert = copy.prepare('insert or replace into record values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (const row of rows) {
    const id = renamed.get(sidOf(row))
    const [, sid = null, seq = null, at = null, type = null, v = null, client = null, command = null, ref = null] =
      row.values
    if (id === undefined) continue
    const body = row.values.at(-1) ?? null
    const record = {
      seq: Number(seq),
      at: String(at),
      type: String(type),
      v: Number(v),
      by: textOrNull(client),
      commandId: textOrNull(command),
      ref: numberOrNull(ref),
      body: decompressBody(body),
    }
    insert.run(row.rowid, sid, seq, at, type, v, client, command, ref, checksumOf(id, record), body)
  }
}
