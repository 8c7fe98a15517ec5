import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../../../open.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { flipAt, type Planted, type Row } from './planted-store.ts'

export const change = ({ location }: Planted, sql: string) => {
  const database = new DatabaseSync(location.path)
  database.enableDefensive(false)
  database.exec(`pragma foreign_keys = off; ${sql}`)
  database.close()
}

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

export const sqliteDamages: readonly Row[] = [
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
  [
    'records that only a saved copy has (D14)',
    'saved_copy',
    (one) => {
      copyFileSync(one.location.path, `${one.location.path}.recovered-1`)
      const gone = `(select sid from session where id = '${one.sessions.trashed}')`
      const tables = ['record', 'blob_use', 'snapshot', 'session'].map(
        (table) => `delete from ${table} where sid = ${gone}`,
      )
      change(one, tables.join(';'))
    },
  ],
  ['words that cannot be found', 'search', (one) => change(one, `delete from search_docsize`)],
  ['answers that cannot be found', 'search', holeInSearch],
  ['a damaged page of the search index', 'search', damagedPage('search_data')],
  ['a damaged page of an index', 'damaged_file', damagedPage('session_list')],
  ['a damaged page of the index of records', 'damaged_file', damagedPage('sqlite_autoindex_record_1')],
  ['a damaged page of the index of sessions', 'damaged_file', damagedPage('sqlite_autoindex_session_1')],
  ['a damaged page of records', 'damaged_file', damagedPage('record')],
  ['a damaged page of sessions', 'damaged_file', damagedPage('session')],
  ['a damaged page of sessions and of their ids', 'damaged_file', damagedPage('session', 'sqlite_autoindex_session_1')],
  ['no bytes at all', 'unusable', (one) => truncateSync(one.location.path, 0), 'permanent'],
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
]
