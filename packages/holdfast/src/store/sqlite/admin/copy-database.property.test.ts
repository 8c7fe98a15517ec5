import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { appendTo, newSession, textsAfter } from '@holdfast/testkit/contracts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageBytes, readPageRows } from '../repair/table-pages.ts'
import { encodeAppend, encodeNew } from '../rows/encode-changes.ts'
import { createWriter } from '../write/writer.ts'
import { copyDamagedDatabase } from './copy-database.ts'

// Hundreds of stores are created here: in memory, if there is such a file system.
const home = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdfast-damaged-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const path = join(home, 'holdfast.db')
let whole = Buffer.alloc(0)
let rows: ReadonlyMap<string, string> = new Map()

/** Three sessions with short records, and with long ones that continue on other pages. */
beforeAll(() => {
  const writer = createWriter({ path })
  const created = [1, 2, 3].map((number) => encodeNew(newSession(number)))
  expect(writer.run([['open'], ...created]).every(({ ok }) => ok)).toBe(true)
  for (let after = 1; after <= 40; after++)
    for (const number of [1, 2, 3]) {
      const text = after % 10 === 0 ? randomBytes(9000).toString('hex') : `message ${after} ${'word '.repeat(20)}`
      const [answer] = writer.run([encodeAppend(appendTo(number, after, { records: textsAfter(after, text) }))])
      expect(answer).toMatchObject({ ok: true })
    }
  writer.close()
  whole = readFileSync(path)
  rows = readRows(path)
  expect(rows.size).toBe(3 * 41 + 3)
})

function readRows(file: string): ReadonlyMap<string, string> {
  using database = new DatabaseSync(file, { readOnly: true })
  const read = (table: string) => database.prepare(`select * from ${table} order by 1`).all()
  return new Map(
    ['session', 'record'].flatMap((table) =>
      read(table).map((row) => [`${table} ${row['pos'] ?? row['sid']}`, JSON.stringify(row)] as const),
    ),
  )
}

/** Returns the rows that can be read of a file with these bytes; null if it is refused. */
function copyDamaged(bytes: Buffer): ReadonlyMap<string, string> | null {
  const [damaged, copy] = [join(home, 'damaged.db'), join(home, 'copy.db')]
  writeFileSync(damaged, bytes)
  try {
    const isCopied = copyDamagedDatabase(damaged, copy) !== null
    expect(readFileSync(damaged).equals(bytes), 'it is not changed').toBe(true)
    return isCopied ? readRows(copy) : null
  } finally {
    for (const left of ['', '-wal', '-shm'])
      for (const file of [damaged, copy]) rmSync(`${file}${left}`, { force: true })
  }
}

const changes = [0x01, 0xff, 0x80, 0x06]

describe('a damaged store', () => {
  it('loses no row through any one wrong byte in its header', { timeout: 120_000 }, () => {
    for (let offset = 0; offset < 100; offset++) {
      const bytes = Buffer.from(whole)
      bytes.writeUInt8(bytes.readUInt8(offset) ^ (changes[offset % changes.length] ?? 1), offset)
      expect(copyDamaged(bytes), `byte ${offset}`).toEqual(rows)
    }
  })

  it('loses only the rows on missing pages, however many pages are missing', () => {
    const pages = whole.length / pageBytes
    const used = findPagesOfRows(pages)
    expect(used.size).toBe(rows.size)
    for (let left = pages - 1; left > pages / 4; left -= left > pages - 12 ? 1 : 5) {
      const found = copyDamaged(whole.subarray(0, left * pageBytes))
      const isSessionLeft = [1, 2, 3].every((sid) => Math.max(...(used.get(`session ${sid}`) ?? [])) <= left)
      if (!isSessionLeft) continue
      for (const [name, row] of rows) {
        const isLeft = Math.max(...(used.get(name) ?? [])) <= left
        // A record whose last pages are missing reads as lost.
        expect(found?.get(name) === row, `${name} with ${left} of ${pages} pages`).toBe(isLeft)
      }
    }
  })

  it('loses no row through a damaged page that leads to others', () => {
    using database = new DatabaseSync(path, { readOnly: true })
    const root = Number(
      database.prepare(`select rootpage from sqlite_schema where name = 'record'`).get()?.['rootpage'],
    )
    const bytes = Buffer.from(whole)
    expect(bytes.readUInt8((root - 1) * pageBytes), 'an interior page').toBe(5)
    bytes.fill('Z', (root - 1) * pageBytes, root * pageBytes)
    expect(copyDamaged(bytes)).toEqual(rows)
  })

  it.each([
    ['a wrong type', [0]],
    ['a wrong number of rows', [0, 3, 4]],
    ['no header', [0, 1, 2, 3, 4, 5, 6, 7]],
  ])('loses no row through a page with %s', (_, offsets) => {
    const leaves = new Set([...findPagesOfRows(whole.length / pageBytes).values()].map(([page = 0]) => page))
    expect(leaves.size).toBeGreaterThan(10)
    for (const [index, leaf] of [...leaves].entries()) {
      const bytes = Buffer.from(whole)
      for (const offset of offsets)
        bytes.writeUInt8(
          ((changes[index % changes.length] ?? 1) * (offset + 1)) & 0xff,
          (leaf - 1) * pageBytes + offset,
        )
      const found = copyDamaged(bytes)
      expect([...(found?.keys() ?? [])].toSorted(), `page ${leaf}`).toEqual([...rows.keys()].toSorted())
      // Sessions that their index still has are restored from their logs by the next check.
      for (const [name, row] of rows) if (name.startsWith('record')) expect(found?.get(name), name).toBe(row)
    }
  })

  it('loses no record of a session whose row and id are lost, and gives it a new id', () => {
    const bytes = Buffer.from(whole)
    const used = new Set(
      [...findPagesOfRows(whole.length / pageBytes)].flatMap(([name, pages]) =>
        name.startsWith('record') ? pages : [],
      ),
    )
    for (let page = 2; page <= whole.length / pageBytes; page++) {
      const content = bytes.subarray((page - 1) * pageBytes, page * pageBytes)
      if (!used.has(page) && content.includes('ses_')) content.fill('Z')
    }
    const found = copyDamaged(bytes)
    const textOf = (row: string | undefined) => (JSON.parse(row ?? '{}') as { readonly body?: unknown }).body // a row
    for (const [name, row] of rows) {
      if (name.startsWith('record')) expect(textOf(found?.get(name)), name).toEqual(textOf(row))
      else expect(found?.get(name)).toMatch(/"id":"ses_[0-7][0-9a-hjkmnp-tv-z]{25}"/)
    }
    expect([...(copyDamaged(bytes) ?? [])], 'the same id each time').toEqual([...(found ?? [])])
  })

  it('is another file if its tables are others', () => {
    const other = join(home, 'other.db')
    const database = new DatabaseSync(other)
    database.exec('pragma journal_mode = wal; create table diary (entry text)')
    database.close()
    expect(copyDamaged(readFileSync(other))).toBeNull()
    expect(copyDamaged(Buffer.from('Dear diary, '.repeat(1000)))).toBeNull()
  })

  it('is not repaired if a newer version wrote it', () => {
    const newer = join(home, 'newer.db')
    writeFileSync(newer, whole)
    const database = new DatabaseSync(newer)
    database.exec(
      'alter table record add column colour text; pragma user_version = 99; pragma wal_checkpoint(truncate)',
    )
    database.close()
    expect(copyDamaged(readFileSync(newer))).toBeNull()
  })
})

/** Returns the numbers of all pages that a row is on, by its name. */
function findPagesOfRows(pages: number): ReadonlyMap<string, readonly number[]> {
  const used = new Map<string, readonly number[]>()
  for (let page = 1; page <= pages; page++) {
    let read: number[] = []
    const readPage = (number: number) => {
      read.push(number)
      if (number < 1 || number > pages) return null
      return whole.subarray((number - 1) * pageBytes, number * pageBytes)
    }
    for (const { rowid, values } of readPageRows(page, readPage)) {
      const name = values.length === 17 ? 'session' : values.length === 11 ? 'record' : null
      if (name !== null) used.set(`${name} ${rowid}`, [page, ...read])
      read = []
    }
  }
  return used
}
