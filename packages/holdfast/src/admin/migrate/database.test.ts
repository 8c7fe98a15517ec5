import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { done, orThrow } from '@holdfast/protocol'
import { mustCreate, newSession } from '@holdfast/testkit/contracts'
import { startFakeS3 } from '@holdfast/testkit/postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import type { SavedLocation } from '../../store/open/store-location.ts'
import { contentOf, type FilledStore, fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { openPostgresStore } from '../../store/postgres/postgres-store.ts'
import { openReadOnlyPostgres } from '../../store/postgres/read-only-store.ts'
import { newLocation, useServer, withDatabase } from '../../store/postgres/testing/test-schema.ts'
import { check } from '../doctor/check-store.ts'
import { checkStore } from '../jobs/admin-stores.ts'
import { countStore } from '../stats/count-store.ts'
import { type MigrateDeps, migrate } from './migrate-store.ts'

const server = useServer()
let base = ''
let filled: FilledStore
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-database-'))
  filled = await fillStore(locationIn(base, 'sqlite'), join(base, 'aside'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const run = async (from: SavedLocation, to: SavedLocation, more: Partial<MigrateDeps> = {}) =>
  migrate({ from, to, onProblem: ({ cause }) => expect.fail(String(cause)), ...more })

const count = async (location: SavedLocation) => orThrow(await countStore(location, { days: 30, nowMs: Date.now() }))

describe('a store in PostgreSQL', () => {
  it('is migrated to and back with all records, rows, trusts, tokens and blobs', async () => {
    const [first, database, back] = [locationIn(base, 'sqlite'), newLocation(server()), locationIn(base, 'jsonl')]
    const there = orThrow(await run(first, database))
    expect(there).toMatchObject({ copied: 5, kept: 0, refused: [], missingBlobs: [] })
    const again = orThrow(await run(database, back))
    expect(again).toMatchObject({ copied: 5, kept: 0, refused: [], missingBlobs: [] })
    expect([again.records, again.blobs, again.blobBytes]).toEqual([there.records, there.blobs, there.blobBytes])
    const all = [await contentOf(first), await contentOf(database), await contentOf(back)]
    expect([all[1], all[2]]).toEqual([all[0], all[0]])
    expect(orThrow(await run(first, database))).toMatchObject({ copied: 0, kept: 5 })
  })

  it('has the same statistics as the store it was copied from, and its own sizes', async () => {
    const [first, database] = [locationIn(base, 'sqlite'), newLocation(server())]
    orThrow(await run(first, database))
    const [{ store: files, ...expected }, { store: tables, ...found }] = [await count(first), await count(database)]
    expect(found).toEqual(expected)
    expect([tables.records, tables.blobs, tables.blobBytes]).toEqual([files.records, files.blobs, files.blobBytes])
    expect(tables.recordBytes).toBeGreaterThan(8192)
    expect(tables.indexBytes).toBeGreaterThan(8192)
  })

  it('is checked by doctor: damaged records, rows and blobs are named, and nothing is repaired', async () => {
    const database = newLocation(server())
    orThrow(await run(locationIn(base, 'sqlite'), database))
    expect(orThrow(await check(database))).toMatchObject({ isIntact: true, sessions: 4, findings: [] })
    const { id, hash } = await withDatabase(database, async ({ read, write }) => {
      await write(`update @record set body = replace(body, 'hello', 'jello') where body like '%hello there%'`)
      const [blob] = await read('select hash, content from @blob order by hash limit 1')
      await write('update @chunk set bytes = $2 where content = $1', [blob?.['content'], Buffer.from('other')])
      await write('update @session set meta = $2 where id = $1', [filled.trashed, 'no JSON'])
      return { id: filled.talk, hash: String(blob?.['hash']) }
    })
    const report = await checkStore(database.secretUrl, { environment: {} })
    expect(report.isIntact).toBe(false)
    const named = report.findings.map(({ code, subject }) => `${code} ${subject}`)
    expect(named).toContain(`lost_records ${id}`)
    expect(named).toContain(`row ${filled.trashed}`)
    expect(named.some((one) => one.startsWith('damaged_blob') && one.endsWith(hash))).toBe(true)
    expect(report.findings.every(({ canRepair }) => !canRepair)).toBe(true)
    expect(await check(database, { repair: true })).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(await check(newLocation(server()))).toMatchObject({ ok: false, fault: { code: 'not_found' } })
  })

  it('is intact for doctor after a node was killed: its sessions are only named', async () => {
    const database = newLocation(server())
    orThrow(await run(locationIn(base, 'sqlite'), database))
    await withDatabase(database, ({ write }) =>
      write('update @session set owner = $2 where id = $1', [filled.talk, 'a-killed-node']),
    )
    const { isIntact, findings } = orThrow(await check(database))
    expect(findings).toMatchObject([{ severity: 'info', code: 'dead_owner', subject: filled.talk, canRepair: false }])
    expect(findings[0]?.what).toContain('the next command or client brings it up')
    expect(isIntact).toBe(true)
  })

  it('is refused by doctor if it lacks a table or a function, as by a server', async () => {
    for (const [drop, name] of [
      ['drop table @draft', 'draft'],
      ['drop function @append', 'append'],
    ] as const) {
      const database = newLocation(server())
      orThrow(await run(locationIn(base, 'sqlite'), database))
      await withDatabase(database, ({ write }) => write(drop))
      const refused = {
        ok: false,
        fault: { code: 'storage_error', details: { reason: 'lacks_table', missing: [name] } },
      }
      const [checked, served] = [await check(database), await openPostgresStore(database)]
      expect([checked, served]).toMatchObject([refused, refused])
      expect(checked).toMatchObject({ fault: { message: expect.stringContaining(`Missing: ${name}.`) } })
    }
  })

  it('can be counted and checked by a running program, and is not migrated while it has sessions open', async () => {
    const database = newLocation(server())
    const environment = { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ store: database.secretUrl, environment })
    const { id } = await holdfast.startSession({ workdir: base, title: 'Open' })
    expect((await holdfast.stats()).sessions.listed).toBe(1)
    expect(await holdfast.doctor()).toMatchObject({ isIntact: true, sessions: 1 })
    await expect(holdfast.backup(join(base, 'copy'))).rejects.toThrow('pg_dump')
    expect(await run(database, locationIn(base, 'jsonl'))).toMatchObject({
      ok: false,
      fault: { code: 'session_locked', details: { sessions: [id] } },
    })
    await holdfast.close()
    expect(await run(database, locationIn(base, 'jsonl'))).toMatchObject({ ok: true, value: { copied: 1 } })
  })

  it('is migrated with the labels of its sessions, which say where they may run', async () => {
    const [one, other, file] = [newLocation(server()), newLocation(server()), locationIn(base, 'jsonl')]
    const { store } = orThrow(await openPostgresStore(one))
    await mustCreate(store, newSession(1))
    await mustCreate(store, newSession(2))
    await store.close()
    const labelled = { id: '' }
    await withDatabase(one, async ({ write }) => {
      const rows = await write(`update @session set label = 'projects', owner = null where sid = 1 returning id`, [])
      labelled.id = String(rows[0]?.['id'])
      await write('update @session set owner = null', [])
    })
    expect(orThrow(await run(one, other))).toMatchObject({ copied: 2, refused: [] })
    const labels = await withDatabase(other, ({ read }) => read('select id, label from @session order by sid', []))
    expect(labels).toMatchObject([{ id: labelled.id, label: 'projects' }, { label: null }])
    expect(orThrow(await run(one, file))).toMatchObject({ copied: 2, refused: [] })
  })

  it('is migrated with its tenants, but not to a store that would show them to everyone', async () => {
    const [database, other] = [newLocation(server()), newLocation(server())]
    const { store } = orThrow(await openPostgresStore(database))
    await mustCreate(store, newSession(1, { tenant: 'acme' }))
    await store.release(newSession(1).session, newSession(1).owner, 1)
    await store.close()
    expect(await run(database, locationIn(base, 'jsonl'))).toMatchObject({
      ok: false,
      fault: { code: 'bad_request', details: { tenant: 'acme' } },
    })
    orThrow(await run(database, other))
    expect((await contentOf(other))?.sessions).toMatchObject([{ tenant: 'acme' }])
  })

  it('is migrated with its permission rules, and says how many another store does not keep', async () => {
    const [database, other] = [newLocation(server()), newLocation(server())]
    const { store } = orThrow(await openPostgresStore(database))
    orThrow((await store.permissionRules?.addRule({ id: '00000001', tool: 'shell', verdict: 'deny' })) ?? done)
    await store.close()
    expect(orThrow(await run(database, other))).toMatchObject({ rulesLeft: 0 })
    const copy = orThrow(await openReadOnlyPostgres(other))
    expect(await copy?.rules?.()).toMatchObject({ ok: true, value: [{ id: '00000001', tool: 'shell' }] })
    await copy?.close()
    expect(orThrow(await run(database, locationIn(base, 'jsonl')))).toMatchObject({ rulesLeft: 1 })
  })

  it('is migrated and checked with files in S3', async () => {
    const s3 = await startFakeS3()
    const place = `s3://files/here?endpoint=${encodeURIComponent(s3.endpoint)}&region=here-1`
    const environment = { ...s3.environment, HOLDFAST_BLOBS: place }
    const [first, database, back] = [locationIn(base, 'sqlite'), newLocation(server()), locationIn(base, 'jsonl')]
    const { blobs } = orThrow(await run(first, database, { environment }))
    expect(s3.objects.size).toBe(blobs)
    expect(orThrow(await check(database, { environment })).isIntact).toBe(true)
    expect(orThrow(await run(database, back, { environment }))).toMatchObject({ blobs, missingBlobs: [] })
    const [key = ''] = s3.objects.keys()
    const codes = async () => orThrow(await check(database, { environment })).findings.map(({ code }) => code)
    s3.objects.set(key, Buffer.from('other bytes'))
    expect(await codes()).toEqual(['damaged_blob'])
    s3.objects.delete(key)
    expect(await codes()).toEqual(['damaged_blob'])
    expect(s3.refused).toEqual([])
    await s3.close()
  })
})
