import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { SessionId } from '@holdfast/protocol'
import { mustCreate, newSession, recordAt, sessionId, textSaid } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReadOnlySqlite } from '../read-only-store.ts'
import { schemaVersion } from '../rows/schema.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { prepareStoreFile, readStoreHeader } from './database-file.ts'
import { backupPathOf, type UpgradeStep, upgradeSteps, upgradeStore } from './upgrade-store.ts'
import { writeVersion1 } from './version-1.fixture.ts'
import { writeVersion2 } from './version-2.fixture.ts'
import { writeVersion3 } from './version-3.fixture.ts'
import { writeVersion4 } from './version-4.fixture.ts'
import { writeVersion5 } from './version-5.fixture.ts'
import { writeVersion6 } from './version-6.fixture.ts'

let path = ''
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-upgrade-')), 'holdfast.db')
})
afterEach(() => rmSync(dirname(path), { recursive: true, force: true }))

const fixture = fileURLToPath(new URL('./upgrade-process.fixture.ts', import.meta.url))
const [first, fork, started] = [1, 2, 3].map((number) => SessionId.parse(`ses_0${String(number).padStart(25, '0')}`))

function rowsOf(file: string, query: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(query).all()
  database.close()
  return rows.map((row) => Object.values(row))
}
const versionOf = (file: string) => rowsOf(file, 'pragma user_version').flat()
const everyRecord = (file: string) => rowsOf(file, 'select pos, sid, seq, at, type, v, ref, crc, body from record')
const everySession = (file: string) => rowsOf(file, 'select * from session')
const schemaOf = (file: string) =>
  rowsOf(file, 'select type, name, sql from sqlite_schema where sql is not null order by type, name')

async function open() {
  const opened = await openSqliteStore({ path })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

/** Returns what the store shows through its port. */
async function whatIsThere() {
  const store = await open()
  const read = async (session: SessionId | undefined) =>
    session === undefined ? [] : (await store.read(session, { after: 0, limit: 10 })).map(({ seq }) => seq)
  const found = await store.search({ text: 'harbor', limit: 5 })
  const seqs = [await read(first), await read(fork)]
  await store.close()
  return { seqs, found: found.ok ? found.value.hits.map(({ title }) => title) : found.fault }
}
const all = {
  seqs: [
    [1, 2],
    [1, 2],
  ],
  found: ['Lights'],
}

async function startedFor(parent: SessionId | undefined): Promise<readonly string[]> {
  const store = await open()
  const { sessions } = await store.list({ startedFor: SessionId.parse(parent), limit: 10 })
  await store.close()
  return sessions.map(({ meta }) => meta.id)
}

describe.each([
  [1, writeVersion1],
  [2, writeVersion2],
  [3, writeVersion3],
  [4, writeVersion4],
  [5, writeVersion5],
  [6, writeVersion6],
])('a store of version %i', (version, write) => {
  beforeEach(() => write(path))

  it('gets the schema of a new store, keeps all data and leaves a copy beside it', async () => {
    const [records, sessions] = [everyRecord(path), everySession(path)]
    expect(prepareStoreFile(path)).toBeNull()

    const fresh = join(dirname(path), 'fresh.db')
    prepareStoreFile(fresh)
    expect(schemaOf(path)).toEqual(schemaOf(fresh))
    expect([everyRecord(path), everySession(path)]).toEqual([records, sessions])
    expect(readStoreHeader(path)?.version).toBe(schemaVersion)
    expect(await whatIsThere()).toEqual(all)

    const backup = backupPathOf(path, version)
    expect([versionOf(backup), everyRecord(backup), everySession(backup)]).toEqual([[version], records, sessions])
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.new-'))).toEqual([])
  })

  it('can be restored from the copy', async () => {
    prepareStoreFile(path)
    const backup = backupPathOf(path, version)
    rmSync(path)
    renameSync(backup, path)
    expect(await whatIsThere()).toEqual(all)
  })

  it.each(upgradeSteps)(
    'is either old or new after a failure at %s, and the next open completes the upgrade',
    (step) => {
      const records = everyRecord(path)
      const fail = (reached: UpgradeStep) => {
        if (reached === step) throw new Error('the failure')
      }
      expect(prepareStoreFile(path, { at: fail })).toMatchObject({ message: expect.stringContaining('the failure') })
      const isNew = step === 'committed'
      expect(versionOf(path)).toEqual([isNew ? schemaVersion : version])
      expect(schemaOf(path).some((row) => JSON.stringify(row).includes('"session_waiting"'))).toBe(isNew)
      expect(everyRecord(path)).toEqual(records)
      expect(prepareStoreFile(path)).toBeNull()
      expect([versionOf(path), everyRecord(path)]).toEqual([[schemaVersion], records])
    },
  )

  it.each(upgradeSteps)(
    'is either old or new after kill -9 at %s, and the next open completes the upgrade',
    { timeout: 60_000 },
    (step) => {
      const records = everyRecord(path)
      expect(spawnSync(process.execPath, [fixture, path, step]).signal).toBe('SIGKILL')
      expect([[version], [schemaVersion]]).toContainEqual(versionOf(path))
      expect(everyRecord(path)).toEqual(records)
      expect(prepareStoreFile(path)).toBeNull()
      expect(readdirSync(dirname(path)).filter((name) => name.includes('.new-'))).toEqual([])
      expect(readStoreHeader(path)?.version).toBe(schemaVersion)
      expect([versionOf(path), everyRecord(path)]).toEqual([[schemaVersion], records])
      expect([versionOf(backupPathOf(path, version)), everyRecord(backupPathOf(path, version))]).toEqual([
        [version],
        records,
      ])
    },
  )

  it('is upgraded by one of several processes and opened by all', { timeout: 60_000 }, async () => {
    const children = Array.from({ length: 3 }, () => spawn(process.execPath, [fixture, path]))
    const outputs = await Promise.all(
      children.map(async (child) => {
        const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
        return output
      }),
    )
    expect(outputs).toEqual(['null', 'null', 'null'])
    expect(await whatIsThere()).toEqual(all)
  })

  it.each([
    ['a record', 'delete from record where seq = 2'],
    ['a session', 'delete from session where sid = 2'],
    ['the content of a record', "update record set body = replace(body, 'harbor', 'forest')"],
  ])('is not changed if an upgrade would lose %s', (_, statements) => {
    const before = [everyRecord(path), everySession(path), schemaOf(path)]
    expect(upgradeStore(path, { list: [{ to: schemaVersion, statements }] })).toMatchObject({ code: 'storage_error' })
    expect([everyRecord(path), everySession(path), schemaOf(path)]).toEqual(before)
    expect(versionOf(path)).toEqual([version])
  })
})

describe('a store of version 1', () => {
  beforeEach(() => writeVersion1(path))

  it('accepts compressed bodies after the upgrade, in the same process and the next', async () => {
    const long = 'Ships pass the harbor at night. '.repeat(100)
    const store = await open()
    await mustCreate(store, newSession(7, { records: [recordAt(1, textSaid(long))] }))
    expect(await store.read(sessionId(7), { after: 0, limit: 5 })).toMatchObject([{ event: textSaid(long) }])
    await store.close()
    expect(rowsOf(path, 'select typeof(body) from record order by pos').flat()).toEqual([
      'text',
      'text',
      'text',
      'blob',
    ])
    expect(rowsOf(path, 'pragma integrity_check').flat()).toEqual(['ok'])
    const again = await open()
    expect(await again.read(sessionId(7), { after: 0, limit: 5 })).toMatchObject([{ event: textSaid(long) }])
    await again.close()
  })

  it('has the parents of started sessions after the upgrade, but not of forks', async () => {
    const before = new DatabaseSync(path)
    before.exec(`
      update session set meta = json_set(meta, '$.parent', '${first}') where id = '${fork}';
      insert into session (id, handle, head, workspace, active_at, spoken, meta)
        select '${sessionId(7)}', 'calm-harbor-7', 0, workspace, 3, 1,
          json_set(meta, '$.id', '${sessionId(7)}', '$.parent', '${first}') from session where id = '${first}';`)
    before.close()
    expect(await startedFor(first)).toEqual([sessionId(7)])
  })

  it('accepts compressed bodies through a connection that was open during the upgrade', () => {
    const before = new DatabaseSync(path)
    before.prepare('select count(*) from record').get()
    expect(prepareStoreFile(path)).toBeNull()
    before.exec("update record set body = x'00' where pos = 1")
    expect(before.prepare('select typeof(body) as kind from record where pos = 1').get()).toEqual({ kind: 'blob' })
    before.close()
  })

  it('can be read without an upgrade, except for search', async () => {
    const before = readFileSync(path, 'hex')
    const source = openReadOnlySqlite(path)
    if (!source.ok || source.value === null) throw new Error('it opens')
    expect((await source.value.list({ limit: 5 })).sessions.map(({ meta }) => meta.handle)).toEqual([
      'calm-harbor-2',
      'calm-harbor-1',
    ])
    expect(await source.value.search({ text: 'harbor', limit: 5 })).toMatchObject({
      fault: { code: 'storage_error', message: expect.stringContaining('cannot be searched') },
    })
    await source.value.close()
    expect([readFileSync(path, 'hex'), existsSync(backupPathOf(path, 1))]).toEqual([before, false])
  })
})

describe('a store of version 2', () => {
  beforeEach(() => writeVersion2(path))

  it('has the parents of started sessions after the upgrade, but not of forks', async () => {
    expect(await startedFor(first)).toEqual([started])
  })

  it('may have them already', async () => {
    prepareStoreFile(path)
    const before = new DatabaseSync(path)
    before.exec(`
      update session set meta = json_remove(meta, '$.parent') where id = '${started}';
      pragma user_version = 2;
      pragma wal_checkpoint(truncate)`)
    before.close()
    expect(await startedFor(first)).toEqual([started])
    expect(versionOf(path)).toEqual([schemaVersion])
  })

  it('can be read without an upgrade; a missing table is reported as such', async () => {
    const source = openReadOnlySqlite(path)
    if (!source.ok || source.value === null) throw new Error('it opens')
    expect((await source.value.list({ limit: 5 })).sessions).toHaveLength(3)
    expect(await source.value.read(SessionId.parse(started), { after: 0, limit: 5 })).toMatchObject([
      { event: { type: 'text.said', text: expect.stringMatching(/^The tide comes in/) } },
    ])
    await expect(source.value.list({ startedFor: SessionId.parse(first), limit: 5 })).rejects.toMatchObject({
      code: 'storage_error',
      message: expect.stringContaining('a table is missing'),
      details: { reason: 'lacks_table', path },
    })
    await source.value.close()
    expect([versionOf(path), existsSync(backupPathOf(path, 2))]).toEqual([[2], false])
  })
})

it('reports a missing table, not a failed disk', async () => {
  prepareStoreFile(path)
  const database = new DatabaseSync(path)
  database.exec('drop table started_for; pragma wal_checkpoint(truncate)')
  database.close()
  expect(await openSqliteStore({ path })).toMatchObject({
    ok: false,
    fault: { code: 'storage_error', details: { reason: 'lacks_table', error: 'no such table: started_for' } },
  })
})
