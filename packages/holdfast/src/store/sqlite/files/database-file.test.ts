import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { networkFileSystemName } from '../../disk.ts'
import { openReader } from '../read/reader.ts'
import { applicationId, schemaVersion } from '../rows/schema.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { prepareStoreFile } from './database-file.ts'

let path = ''
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-file-')), 'holdfast.db')
})
afterEach(() => rmSync(dirname(path), { recursive: true, force: true }))

const everythingThere = () =>
  readdirSync(dirname(path)).map((name) => {
    const file = join(dirname(path), name)
    const { mode, mtimeMs } = statSync(file)
    return { name, mode, mtimeMs, bytes: statSync(file).isFile() ? readFileSync(file, 'hex') : '' }
  })

/** Opens the file to write and to read. Both must refuse and change nothing. */
async function refusals(): Promise<readonly unknown[]> {
  const before = everythingThere()
  const [store, reader] = [await openSqliteStore({ path }), openReader(path)]
  expect(everythingThere()).toEqual(before)
  return [store, reader].map((result) => (result.ok ? 'opened' : result.fault.code))
}

function otherDatabase(...statements: readonly string[]): void {
  const database = new DatabaseSync(path)
  for (const statement of statements) database.exec(statement)
  database.close()
}

describe('a file that is not a store', () => {
  it.each([
    ['text', 'Dear diary, '.repeat(1000)],
    ['short text', 'x'],
    ['an empty file', ''],
    ['a truncated database', 'SQLite format 3\u0000'.padEnd(200, 'y')],
  ])('is refused and not changed: %s', async (_, content) => {
    writeFileSync(path, content, { mode: 0o644 })
    expect(await refusals()).toEqual(['not_a_store', 'not_a_store'])
  })

  it("is refused when it is another program's database", async () => {
    otherDatabase('create table diary (entry text)', 'pragma journal_mode = wal')
    expect(await refusals()).toEqual(['not_a_store', 'not_a_store'])
  })

  it('is refused when it is a directory', async () => {
    mkdirSync(path)
    expect(await refusals()).toEqual(['not_a_store', 'not_a_store'])
  })

  it('is not created beside an orphaned write-ahead log', async () => {
    writeFileSync(`${path}-wal`, 'what is left')
    const before = everythingThere()
    expect(await openSqliteStore({ path })).toMatchObject({ ok: false, fault: { code: 'not_a_store' } })
    expect(everythingThere()).toEqual(before)
  })
})

describe('a store that lost its file while it was open', () => {
  const lost: readonly (readonly [string, () => void])[] = [
    ['is missing', () => undefined],
    ['is missing, but not its log', () => writeFileSync(`${path}-wal`, 'what is left')],
    ['is empty', () => writeFileSync(path, '')],
    ['was replaced', () => writeFileSync(path, 'something else')],
  ]

  it.each(lost)('names the newest copy of its records, and what to do, if the file %s', async (_, damage) => {
    damage()
    // An earlier copy may have a higher number: the newest takes the first that is free.
    for (const number of [1, 2, 3]) writeFileSync(`${path}.recovered-${number}`, 'its records')
    for (const number of [1, 3]) utimesSync(`${path}.recovered-${number}`, 1, 1)
    const saved = `${path}.recovered-2`
    const before = everythingThere()
    for (const result of [await openSqliteStore({ path }), openReader(path)]) {
      const fault = result.ok ? null : result.fault
      expect(fault).toMatchObject({ code: 'storage_error', details: { reason: 'recovered', saved, path } })
      expect(fault?.message).toContain(`Run holdfast doctor --repair --store sqlite:${path} to put them back`)
    }
    expect(everythingThere()).toEqual(before)
  })
})

describe('an unusable store', () => {
  it('is refused if a newer version wrote it', async () => {
    otherDatabase(
      `pragma application_id = ${applicationId}`,
      `pragma user_version = ${schemaVersion + 1}`,
      'create table session (id text)',
    )
    expect(await refusals()).toEqual(['store_too_new', 'store_too_new'])
  })

  it('is refused for writing if the file is read-only, even for root', async () => {
    const made = await openSqliteStore({ path })
    if (made.ok) await made.value.close()
    chmodSync(path, 0o444)
    const before = everythingThere()
    expect(await openSqliteStore({ path })).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'read_only', path } },
    })
    expect(everythingThere()).toEqual(before)
  })

  it('is refused if its directory cannot be created', async () => {
    writeFileSync(path, 'a file where a directory should be')
    const below = join(path, 'holdfast.db')
    expect(await openSqliteStore({ path: below })).toMatchObject({
      ok: false,
      fault: {
        code: 'storage_error',
        message: `The store at ${below} cannot be used: ${path} is not a directory.`,
        details: { reason: 'not_a_directory' },
      },
    })
  })

  it('is refused on a network file system, which the fault names', () => {
    expect([0x6969, 0xff534d42, -11317950, 0x01021997].map(networkFileSystemName)).toEqual([
      'nfs',
      'cifs',
      'cifs',
      '9p',
    ])
    expect([0xef53, 0x01021994, 0x58465342].map(networkFileSystemName)).toEqual([null, null, null])
  })
})

it('is prepared while another process removes the files beside it', async () => {
  expect(prepareStoreFile(path)).toBeNull()
  const churn = `const { rmSync, writeFileSync } = require('node:fs')
    const [path, stop] = require('node:worker_threads').workerData
    while (Atomics.load(stop, 0) === 0) { writeFileSync(path, ''); rmSync(path) }`
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(churn, { eval: true, workerData: [`${path}-shm`, stop] })
  await once(worker, 'online')
  const faults = Array.from({ length: 5000 }, () => prepareStoreFile(path)).filter((fault) => fault !== null)
  Atomics.store(stop, 0, 1)
  await once(worker, 'exit')
  expect(faults).toEqual([])
})
