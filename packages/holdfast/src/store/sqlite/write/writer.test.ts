import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { appendTo, newSession } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openForReading, openForWriting } from '../files/database-file.ts'
import { createReader } from '../read/reader.ts'
import { encodeAppend, encodeNew } from '../rows/encode-changes.ts'
import { createWriter } from './writer.ts'

let home = ''
let path = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-writer-'))
  path = join(home, 'holdfast.db')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const sqliteError = (errcode: number) => Object.assign(new Error('disk I/O error'), { errcode })
const fsyncFailed = 1034
const diskFull = 13

/** Opens real databases, counts them, and makes a commit fail on request. */
function createFailingOpen() {
  const opened: DatabaseSync[] = []
  const prepared: string[] = []
  let failure: Error | null = null
  return {
    opened,
    checkpoints: () => prepared.filter((sql) => sql.includes('wal_checkpoint(truncate)')).length,
    failNextCommit: (error: Error) => {
      failure = error
    },
    open: (file: string) => {
      const database = openForWriting(file)
      opened.push(database)
      const prepare = database.prepare.bind(database)
      database.prepare = (sql) => {
        prepared.push(sql)
        const statement = prepare(sql)
        if (sql !== 'commit') return statement
        const run = statement.run.bind(statement)
        statement.run = () => {
          const error = failure
          failure = null
          if (error !== null) throw error
          return run()
        }
        return statement
      }
      return database
    },
  }
}

const headOf = (): number | undefined => {
  const reader = createReader(path)
  const entry = reader.ask('entry', newSession(1).session)
  reader.close()
  return entry.ok ? entry.value?.head : undefined
}

describe('writer', () => {
  it('drops a handle after a failed sync, discards the group and continues with a new handle', () => {
    const disk = createFailingOpen()
    const writer = createWriter({ path }, disk.open)
    writer.run([['open'], encodeNew(newSession(1)), encodeNew(newSession(2))])

    disk.failNextCommit(sqliteError(fsyncFailed))
    const answers = writer.run([encodeAppend(appendTo(1, 1)), encodeAppend(appendTo(2, 1))])
    const fault = { code: 'storage_error', details: { reason: 'io', sqlite: fsyncFailed, path } }
    expect(answers).toMatchObject([
      { ok: false, fault },
      { ok: false, fault },
    ])
    expect(disk.opened.map((database) => database.isOpen)).toEqual([false])
    expect(headOf()).toBe(1)

    expect(writer.run([encodeAppend(appendTo(1, 1))])).toEqual([{ ok: true, value: undefined }])
    expect(disk.opened.map((database) => database.isOpen)).toEqual([false, true])
    expect(headOf()).toBe(2)
    writer.close()
  })

  it.each([
    ['checkpoints the log after a failed sync', fsyncFailed, 1],
    ['does not checkpoint after a full disk, which would use the freed space', diskFull, 0],
  ])('%s', (_, errcode, checkpoints) => {
    const disk = createFailingOpen()
    const writer = createWriter({ path }, disk.open)
    writer.run([['open'], encodeNew(newSession(1))])
    disk.failNextCommit(sqliteError(errcode))
    expect(writer.run([encodeAppend(appendTo(1, 1))])).toMatchObject([{ ok: false }])
    expect(writer.run([encodeAppend(appendTo(1, 1))])).toMatchObject([{ ok: true }])
    expect([disk.checkpoints(), headOf()]).toEqual([checkpoints, 2])
    writer.close()
  })

  it('checkpoints if the disk is full after a failed sync', () => {
    const disk = createFailingOpen()
    const writer = createWriter({ path }, disk.open)
    writer.run([['open'], encodeNew(newSession(1))])
    for (const errcode of [fsyncFailed, diskFull]) {
      disk.failNextCommit(sqliteError(errcode))
      writer.run([encodeAppend(appendTo(1, 1))])
    }
    expect(writer.run([encodeAppend(appendTo(1, 1))])).toMatchObject([{ ok: true }])
    expect(disk.checkpoints()).toBe(1)
    writer.close()
  })

  it('fails only the change that breaks the transaction', () => {
    const writer = createWriter({ path })
    writer.run([['open'], encodeNew(newSession(1)), encodeNew(newSession(2)), encodeNew(newSession(3))])
    const valid = encodeAppend(appendTo(2, 1))
    // The column rejects this body; only a bug can send it.
    const broken = valid.with(5, [
      [2, '', 'user.said', 1, null, null, null, null as unknown as string],
    ]) as unknown as typeof valid
    const answers = writer.run([encodeAppend(appendTo(1, 1)), broken, encodeAppend(appendTo(3, 1))])
    expect(answers).toMatchObject([{ ok: true }, { ok: false, fault: { code: 'internal' } }, { ok: true }])
    expect(headOf()).toBe(2)
    expect(writer.run([valid])).toMatchObject([{ ok: true }])
    writer.close()
  })

  it('recovers a removed log in place, once the read that runs has ended', () => {
    const writer = createWriter({ path }, (file) => {
      const database = openForWriting(file)
      const prepare = database.prepare.bind(database)
      database.prepare = (sql) => {
        const statement = prepare(sql)
        if (!sql.includes('wal_checkpoint(truncate)')) return statement
        const get = statement.get.bind(statement)
        statement.get = () => {
          const row = get()
          busy.push(row?.['busy'])
          if (reading?.isTransaction) reading.exec('commit') // the read ends after the first attempt
          return row
        }
        return statement
      }
      return database
    })
    const busy: unknown[] = []
    let reading: DatabaseSync | null = null
    writer.run([['open'], encodeNew(newSession(1))])
    reading = openForReading(path)
    reading.exec('begin')
    reading.prepare('select count(*) from session').get()
    rmSync(`${path}-wal`)
    writer.run([encodeAppend(appendTo(1, 1))])
    expect(busy.slice(0, 2)).toEqual([1, 0])
    reading.close()
    reading = null
    writer.close()
    expect(existsSync(`${path}.recovered-1`)).toBe(false)
  })

  const losses: readonly (readonly [string, (log: string) => void])[] = [
    ['removed', (log) => rmSync(log)],
    ['emptied', (log) => truncateSync(log, 0)],
  ]
  it.each(losses)('keeps what it acknowledged and writes nothing that it refuses, if its log is %s', (_, change) => {
    const writer = createWriter({ path })
    writer.run([['open'], encodeNew(newSession(1))])
    change(`${path}-wal`)
    let refusals = 0
    for (let appends = 0; appends < 10; appends++) {
      const before = headOf() ?? 1
      const [answer] = writer.run([encodeAppend(appendTo(1, before))])
      expect(headOf()).toBe(answer?.ok ? before + 1 : before)
      if (!answer?.ok) refusals += 1
    }
    expect(refusals).toBe(1)
    writer.close()
  })

  it.each(losses)('recovers at rest if its log is %s, and reports it with the next change', (_, change) => {
    const writer = createWriter({ path })
    writer.run([['open'], encodeNew(newSession(1)), encodeAppend(appendTo(1, 1))])
    change(`${path}-wal`)
    let looks = 0
    while (Number.isFinite(writer.rest()) && looks < 1_000_000) looks += 1
    expect(headOf()).toBe(2)
    const reported = { ok: false, fault: { code: 'storage_error', details: { saved: path } } }
    expect(writer.run([['extendIndex', 0]])).toMatchObject([{ ok: true }])
    expect(writer.run([encodeAppend(appendTo(1, 2))])).toMatchObject([reported])
    expect(headOf()).toBe(2)
    expect(writer.run([encodeAppend(appendTo(1, 2))])).toMatchObject([{ ok: true }])
    writer.close()
  })

  it('refuses to write without a store, and creates none', () => {
    const writer = createWriter({ path })
    expect(writer.run([encodeAppend(appendTo(1, 1))])).toMatchObject([{ ok: false, fault: { code: 'storage_error' } }])
  })
})
