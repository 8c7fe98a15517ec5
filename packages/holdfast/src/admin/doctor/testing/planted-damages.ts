import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Event, eventVersion, orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../../../open.ts'
import type { FindingCode } from '../../../store/finding.ts'
import { openDiskStore } from '../../../store/open/open-storage.ts'
import type { DiskLocation } from '../../../store/open/store-location.ts'
import type { FilledStore } from '../../../store/open/testing/a-store.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { check } from '../check-store.ts'

export type Planted = { readonly location: DiskLocation; readonly sessions: FilledStore }
/** The log of a session. */
export const logOf = ({ location }: Planted, session: string) => join(location.path, `${session}.jsonl`)
export const change = ({ location }: Planted, sql: string) => {
  const database = new DatabaseSync(location.path)
  database.enableDefensive(false)
  database.exec(`pragma foreign_keys = off; ${sql}`)
  database.close()
}
const blobFile = ({ location }: Planted) => {
  const file = readdirSync(location.blobsDir, { recursive: true, withFileTypes: true }).find((one) => one.isFile())
  if (!file) throw new Error('the store has blobs')
  return join(file.parentPath, file.name)
}
function strayBlob({ location }: Planted): void {
  const path = join(location.blobsDir, 'aa', 'a'.repeat(62))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, 'nobody knows', { mode: 0o600 })
}
function flipAt(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}
function flipInMiddle(path: string): void {
  const lines = readFileSync(path, 'latin1').split('\n')
  flipAt(path, lines.slice(0, 4).join('\n').length + 40)
}

/** Something that cannot be repaired, or that need not be: it stays. */
export type Staying = 'permanent' | 'harmless'
export type Row = readonly [
  what: string,
  code: FindingCode,
  plant: (planted: Planted) => void | Promise<void>,
  stays?: Staying,
]

/** Drops an index, changes its table, and creates the index again, now wrong. */
function staleIndex(one: Planted, index: string, sql: string): void {
  const database = new DatabaseSync(one.location.path)
  const kept = database.prepare('select * from sqlite_schema where name = ?').get(index)
  database.enableDefensive(false)
  database.exec(`pragma writable_schema = on; delete from sqlite_schema where name = '${index}'`)
  database.close()
  change(one, sql)
  const again = new DatabaseSync(one.location.path)
  again.enableDefensive(false)
  again.exec('pragma writable_schema = on')
  again
    .prepare('insert into sqlite_schema (type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?)')
    .run(...['type', 'name', 'tbl_name', 'rootpage', 'sql'].map((column) => kept?.[column] ?? null))
  again.close()
}

const notesAdded = 120

/** So many records that their table has more than one page. */
export async function addNotes({ location, sessions: { talk } }: Planted): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'hf-notes-'))
  const holdfast = await openHoldfast({ store: location.url, environment: { HOLDFAST_HOME: home } })
  const session = await holdfast.getSession(talk)
  for (let number = 0; number < notesAdded; number += 1)
    await session.addSystemMessage(`note ${number} ${randomBytes(200).toString('hex')}`)
  await holdfast.close()
  rmSync(home, { recursive: true })
}

const pageBytes = 4096
/** The first byte of an interior page: of an index, and of a table. */
const interior: ReadonlySet<number> = new Set([2, 5])

function rootOf({ location }: Planted, name: string): number {
  const database = new DatabaseSync(location.path)
  const row = database.prepare('select rootpage from sqlite_schema where name = ?').get(name)
  database.close()
  return Number(row?.['rootpage'])
}

/** Removes the last entry of a one-page index: reads through it do not fail, but miss a row. */
export function dropLastEntry(one: Planted, index: string): void {
  const at = (rootOf(one, index) - 1) * pageBytes
  const bytes = readFileSync(one.location.path)
  if (interior.has(bytes.readUInt8(at))) throw new Error(`${index} has more than one page`)
  bytes.writeUInt16BE(bytes.readUInt16BE(at + 3) - 1, at + 3)
  writeFileSync(one.location.path, bytes)
}

/** Overwrites one page in the middle of a table or an index, of those that lead to no other. */
export function overwritePage(one: Planted, name: string): void {
  const { location } = one
  let page = rootOf(one, name)
  const bytes = readFileSync(location.path)
  for (let at = (page - 1) * pageBytes; interior.has(bytes.readUInt8(at)); at = (page - 1) * pageBytes) {
    const middle = Math.floor(bytes.readUInt16BE(at + 3) / 2)
    page = bytes.readUInt32BE(at + bytes.readUInt16BE(at + 12 + 2 * middle))
  }
  bytes.fill('Z', (page - 1) * pageBytes, page * pageBytes)
  writeFileSync(location.path, bytes)
}

const damagedPage =
  (...names: readonly string[]): Row[2] =>
  async (one) => {
    await addNotes(one)
    for (const name of names) overwritePage(one, name)
  }

/** Removes the answers from the index and keeps the prompts. */
async function holeInSearch(one: Planted): Promise<void> {
  const store = orThrow(await openSqliteStore({ path: one.location.path }))
  orThrow(await store.rebuildSearch())
  await store.close()
  change(one, `delete from search where rowid in (select pos from record where type = 'text.said')`)
}

/** A record that no runtime would write: a call that is settled outside a round. */
async function contradict({ location, sessions: { talk } }: Planted): Promise<void> {
  const { store } = orThrow(await openDiskStore(location, () => undefined))
  const row = await store.entry(talk)
  if (row === null) throw new Error('the store has this session')
  const { epoch, head } = orThrow(await store.claim(talk, 'node_test', row.owner))
  const outcome = { type: 'denied', code: 'rejected', message: 'no' }
  const event = Event.parse({ type: 'call.settled', call: 1, outcome, durationMs: 1 })
  const record = { seq: head + 1, at: new Date(0).toISOString(), v: eventVersion['call.settled'], event }
  const change = { entry: row.entry, clearDraft: false, blobs: [], trust: [] }
  const records = [{ record, body: JSON.stringify(event) }]
  orThrow(await store.append({ session: talk, after: head, epoch, records, ...change }))
  await store.release(talk, 'node_test', epoch)
  await store.close()
}

async function giveUp(one: Planted): Promise<void> {
  const [flipped] = damages[one.location.kind]
  await flipped?.[2](one)
  orThrow(await check(one.location, { repair: true }))
}

const wrongBytes: readonly Row[] = [
  ['magic string', 3],
  ['page size', 16],
  ['read version', 19],
  ['size in pages', 30],
  ['schema format', 47],
  ['text encoding', 59],
  ['store version', 61],
  ['application id', 70],
  ['reserved bytes', 80],
].map(
  ([name, offset]): Row => [
    `a wrong byte in its header: ${name}`,
    'damaged_file',
    (one) => flipAt(one.location.path, Number(offset)),
  ],
)

export const damages: Readonly<Record<DiskLocation['kind'], readonly Row[]>> = {
  sqlite: [
    [
      'a flipped record (D7)',
      'lost_records',
      (one) => change(one, `update record set body = replace(body, 'hello', 'jello') where type = 'user.said'`),
    ],
    [
      'a record that is gone',
      'lost_records',
      (one) =>
        change(
          one,
          `delete from record where type = 'text.said' and sid = 1 and seq = (select max(seq) from record where sid = 1 and type = 'text.said')`,
        ),
    ],
    [
      'a head that is too low',
      'head',
      (one) => change(one, `update session set head = head - 2 where id = '${one.sessions.fork}'`),
    ],
    [
      'a garbled row (D18)',
      'row',
      (one) => change(one, `update session set meta = substr(meta, 1, 20) where id = '${one.sessions.talk}'`),
    ],
    [
      'a stale row (D18)',
      'row',
      (one) =>
        change(one, `update session set meta = json_set(meta, '$.title', 'Another') where id = '${one.sessions.talk}'`),
    ],
    [
      'a handle that was never assigned',
      'row',
      (one) => change(one, `update session set handle = 'no-handle-1' where id = '${one.sessions.talk}'`),
    ],
    [
      'a damaged stored fold',
      'snapshot',
      (one) => change(one, `insert or replace into snapshot (sid, seq, fold, crc, body) values (1, 2, 1, 1, '{}')`),
    ],
    ['words that cannot be found', 'search', (one) => change(one, `delete from search_docsize`)],
    ['answers that cannot be found', 'search', holeInSearch],
    ['a damaged page of the search index', 'search', damagedPage('search_data')],
    ['a damaged page of an index', 'damaged_file', damagedPage('session_list')],
    ['a damaged page of the index of records', 'damaged_file', damagedPage('sqlite_autoindex_record_1')],
    ['a damaged page of the index of sessions', 'damaged_file', damagedPage('sqlite_autoindex_session_1')],
    ['a damaged page of records', 'damaged_file', damagedPage('record')],
    ['a damaged page of sessions', 'damaged_file', damagedPage('session')],
    [
      'a damaged page of sessions and of their ids',
      'damaged_file',
      damagedPage('session', 'sqlite_autoindex_session_1'),
      'permanent',
    ],
    [
      'a garbled search index',
      'search',
      (one) => change(one, `update search_data set block = x'00112233445566778899' where id > 10`),
    ],
    [
      'an owner that is gone (D17)',
      'dead_owner',
      (one) => change(one, `update session set owner = 'node_gone' where id = '${one.sessions.talk}'`),
    ],
    [
      'a process that is gone (D17)',
      'dead_node',
      (one) => change(one, `insert into node values ('node_gone', '/nowhere.sock', '2026-01-01T00:00:00.000Z')`),
    ],
    ['a file whose use was not written down', 'blob_use', (one) => change(one, 'delete from blob_use')],
    [
      'a store that was never finished',
      'unfinished_file',
      (one) => writeFileSync(`${one.location.path}.new-1-x`, 'half'),
    ],
    ['a store others may read (D25)', 'permissions', (one) => chmodSync(one.location.path, 0o644)],
    [
      'a parent that is gone',
      'lineage',
      (one) => change(one, `update session set parent = 999 where id = '${one.sessions.fork}'`),
      'permanent',
    ],
    [
      'an index that lacks a row',
      'damaged_file',
      (one) => staleIndex(one, 'record_ref', `update record set pos = pos + 1000000 where ref is not null`),
    ],
    [
      'a copy of an older version that was never finished',
      'unfinished_file',
      (one) => writeFileSync(`${one.location.path}.v1-backup.new-1-x`, 'half'),
    ],
    [
      'a file one page short',
      'damaged_file',
      (one) => truncateSync(one.location.path, readFileSync(one.location.path).length - pageBytes),
    ],
    ...wrongBytes,
    ['no store at all', 'unusable', (one) => writeFileSync(one.location.path, 'this is not a store'), 'permanent'],
    [
      'a file cut in half (D5)',
      'unusable',
      (one) => truncateSync(one.location.path, readFileSync(one.location.path).length / 2),
      'permanent',
    ],
  ],
  jsonl: [
    ['a flipped record (D7)', 'lost_records', (one) => flipInMiddle(logOf(one, one.sessions.talk))],
    ['a torn tail (D6)', 'torn_tail', (one) => appendFileSync(logOf(one, one.sessions.talk), '{"seq":99,"at":"20')],
    ['a tail of NULs (D6)', 'torn_tail', (one) => appendFileSync(logOf(one, one.sessions.talk), Buffer.alloc(100))],
    [
      'a log cut short (D5)',
      'head',
      (one) => truncateSync(logOf(one, one.sessions.fork), readFileSync(logOf(one, one.sessions.fork)).length - 30),
    ],
    ['a log that is gone (D14)', 'missing_log', (one) => rmSync(logOf(one, one.sessions.trashed))],
    [
      'a garbled catalogue (D18)',
      'catalogue',
      (one) => writeFileSync(join(one.location.path, 'catalogue.jsonl'), 'garbage\nmore\n'),
    ],
    [
      'a stale catalogue (D18)',
      'catalogue',
      (one) => {
        const path = join(one.location.path, 'catalogue.jsonl')
        const lines = readFileSync(path, 'utf8').split('\n')
        writeFileSync(path, `${lines.slice(0, 2).join('\n')}\n`)
      },
    ],
    ['a damaged trash list', 'trash', (one) => writeFileSync(join(one.location.path, 'trash.json'), '{"trashed":{}}')],
    [
      'a damaged stored fold',
      'snapshot',
      (one) =>
        writeFileSync(
          join(one.location.path, 'snapshots', `${one.sessions.talk}.json`),
          '{"seq":1,"fold":1,"crc":1}\n{}',
        ),
    ],
    [
      'a process that is gone (D17)',
      'dead_node',
      (one) =>
        writeFileSync(
          join(one.location.path, 'nodes.json'),
          JSON.stringify([{ id: 'node_gone', address: '/nowhere.sock', startedAt: '2026-01-01T00:00:00.000Z' }]),
        ),
    ],
    [
      'a file that was never finished',
      'unfinished_file',
      (one) => writeFileSync(join(one.location.path, 'trust.json.new-12'), 'half'),
    ],
    ['a log others may read (D25)', 'permissions', (one) => chmodSync(logOf(one, one.sessions.talk), 0o644)],
    [
      'a parent that is gone',
      'lineage',
      (one) => {
        rmSync(join(one.location.path, `${one.sessions.purged}.shared.jsonl`))
        rmSync(join(one.location.path, 'catalogue.jsonl'))
      },
      'permanent',
    ],
    [
      'a log whose first line is damaged',
      'damaged_file',
      (one) => flipAt(logOf(one, one.sessions.talk), 20),
      'permanent',
    ],
    [
      'the end of a log that was put aside',
      'kept_aside',
      (one) => writeFileSync(`${logOf(one, one.sessions.talk)}.torn-1`, 'half', { mode: 0o600 }),
      'harmless',
    ],
    [
      "a stranger's file",
      'foreign_file',
      (one) => writeFileSync(join(one.location.path, 'shopping.txt'), 'a list'),
      'harmless',
    ],
    [
      'a stranger with the name of a log (D15, D19)',
      'unusable',
      (one) => writeFileSync(join(one.location.path, 'ses_00000000000000000000000009.jsonl'), 'a shopping list\n'),
      'permanent',
    ],
  ],
}
/** Damages that a store of either kind can have. */
export const commonDamages: readonly Row[] = [
  ['records that contradict each other', 'unfoldable', contradict, 'permanent'],
  ['records that were given up', 'given_up_records', giveUp, 'harmless'],
  ['a file that nothing refers to', 'unused_blobs', (one) => strayBlob(one), 'harmless'],
  ['a missing file', 'missing_blob', (one) => rmSync(blobFile(one)), 'permanent'],
  ['a flipped file', 'damaged_blob', (one) => writeFileSync(blobFile(one), 'something else'), 'permanent'],
  ['a file others may read (D25)', 'permissions', (one) => chmodSync(blobFile(one), 0o666)],
  [
    'a file that was never finished',
    'unfinished_file',
    (one) => writeFileSync(join(one.location.blobsDir, 'new-1'), 'half'),
  ],
]
