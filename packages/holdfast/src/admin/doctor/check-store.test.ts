import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { findingCodes } from '../../store/finding.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { contentOf, type FilledStore, fillStore, hashesOf, locationIn } from '../../store/open/testing/a-store.ts'
import type { ReadProgress } from '../../store/read-only-store.ts'
import { check, type StoreReport } from './check-store.ts'
import { commonDamages, damages } from './testing/planted-damages.ts'
import type { Planted } from './testing/planted-store.ts'
import { addNotes, change, dropLastEntry, overwritePage } from './testing/sqlite-damages.ts'

let base = ''
let filled: Readonly<Record<DiskLocation['kind'], FilledStore>>
const kinds = ['sqlite', 'jsonl'] as const
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-doctor-'))
  const fill = (kind: DiskLocation['kind']) => fillStore(locationIn(join(base, 'whole'), kind), join(base, kind))
  filled = { sqlite: await fill('sqlite'), jsonl: await fill('jsonl') }
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(base, 'copy-'))
  execFileSync('cp', ['-a', `${join(base, 'whole')}/.`, directory]) // with the modes, which Node does not keep
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe.each(kinds)('doctor of a %s store', (kind) => {
  const planted = (): Planted => ({ location: locationIn(directory, kind), sessions: filled[kind] })
  const wrongIn = async (location: DiskLocation) =>
    orThrow(await check(location)).findings.filter(({ severity }) => severity !== 'info')

  it('finds nothing wrong with an intact store and counts what it read', async () => {
    const { location } = planted()
    expect(await wrongIn(location)).toEqual([])
    const records = (await contentOf(location))?.sessions.reduce((sum, session) => sum + session.records.length, 0)
    const read: ReadProgress[] = []
    const checked = await check(location, { onProgress: (progress) => read.push(progress) })
    expect(orThrow(checked)).toMatchObject({ isIntact: true, sessions: 4, records })
    expect(read.at(-1)).toEqual({ records, total: records })
  })

  for (const [what, code, plant, stays] of [...damages[kind], ...commonDamages]) {
    it(`finds ${what}, changes nothing, and repairs it if asked`, async () => {
      const one = planted()
      await plant(one)
      const before = hashesOf(directory)
      const found = orThrow(await check(one.location))
      expect(found.findings.map((finding) => finding.code)).toContain(code)
      expect(found.isIntact).toBe(stays === 'harmless')
      expect(hashesOf(directory)).toEqual(before)

      const repaired = orThrow(await check(one.location, { repair: true }))
      const again = orThrow(await check(one.location))
      expect([repaired.isIntact, again.isIntact]).toEqual(Array(2).fill(stays !== 'permanent'))
      if (stays === undefined) {
        expect(again.findings.filter(({ severity }) => severity !== 'info')).toEqual([])
        expect(repaired.findings.filter((finding) => finding.code === code && !finding.repaired)).toEqual([])
      } else expect(again.findings.map((finding) => finding.code)).toContain(code)
    })
  }

  it('leaves no files beside a store that is not open', async () => {
    const { location } = planted()
    const before = readdirSync(directory, { recursive: true }).toSorted()
    orThrow(await check(location))
    expect(readdirSync(directory, { recursive: true }).toSorted()).toEqual(before)
  })

  it('refuses to repair a store that another process has open', async () => {
    const one = planted()
    chmodSync(one.location.blobsDir, 0o755)
    const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ store: one.location.url, environment })
    chmodSync(one.location.blobsDir, 0o755)
    expect(await check(one.location, { repair: true })).toMatchObject({ ok: false, fault: { code: 'session_locked' } })
    await holdfast.close()
  })

  it('makes a session with a damaged record writable again and keeps its other records', async () => {
    const one = planted()
    const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
    const [flipped] = damages[kind]
    await flipped?.[2](one)
    const locked = await openHoldfast({ store: one.location.url, environment })
    await expect(locked.sendPrompt(one.sessions.talk, 'go on')).rejects.toMatchObject({ code: 'log_damaged' })
    await locked.close()
    orThrow(await check(one.location, { repair: true }))
    const holdfast = await openHoldfast({ store: one.location.url, environment })
    const handle = orThrow(await holdfast.handles.open(one.sessions.talk))
    const { seq } = orThrow(await handle.submit({ type: 'sendPrompt', content: 'go on' }))
    for await (const frame of handle.subscribe({ after: seq })) {
      if (frame.type !== 'record' || frame.record.event.type !== 'turn.ended') continue
      expect(frame.record.event.reason).toBe('done')
      break
    }
    await holdfast.close()
    expect(await wrongIn(one.location)).toEqual([])
  })
})

describe('doctor', () => {
  it('reports a missing store', async () => {
    expect(await check(locationIn(directory, 'sqlite', 'none'))).toMatchObject({
      ok: false,
      fault: { code: 'not_found' },
    })
    expect(existsSync(join(directory, 'none'))).toBe(false)
  })

  it('copies a damaged row and a damaged catalogue to the quarantine', async () => {
    const [sqlite, jsonl] = [locationIn(directory, 'sqlite'), locationIn(directory, 'jsonl')]
    change(
      { location: sqlite, sessions: filled.sqlite },
      `update session set meta = 'garbled' where id = '${filled.sqlite.talk}'`,
    )
    writeFileSync(join(jsonl.path, 'catalogue.jsonl'), 'garbage\n')
    for (const location of [sqlite, jsonl]) orThrow(await check(location, { repair: true }))
    const kept = (path: string) =>
      readdirSync(path)
        .map((name) => readFileSync(join(path, name), 'utf8'))
        .join('')
    expect(kept(`${sqlite.path}.quarantine`)).toContain('garbled')
    expect(kept(join(jsonl.path, 'quarantine'))).toContain('garbage')
  })

  it('is tested with every finding code', () => {
    const planted = new Set([...damages.sqlite, ...damages.jsonl, ...commonDamages].map(([, code]) => code))
    expect([...planted].toSorted()).toEqual(findingCodes.toSorted())
  })

  it('reports a wrong row once', async () => {
    const location = locationIn(directory, 'sqlite')
    const { talk } = filled.sqlite
    const sql = `update session set meta = json_set(meta, '$.handle', 'no-handle-1') where id = '${talk}'`
    change({ location, sessions: filled.sqlite }, sql)
    const { findings } = orThrow(await check(location))
    expect(findings.map(({ code, subject: where }) => [code, where])).toEqual([['row', talk]])
    expect(orThrow(await check(location, { repair: true })).isIntact).toBe(true)
  })

  it('leaves a repaired store that opens normally', async () => {
    const location = locationIn(directory, 'jsonl')
    rmSync(join(location.path, 'catalogue.jsonl'))
    const { store } = orThrow(await openDiskStore(location, () => undefined))
    await store.close()
    expect(orThrow(await check(location)).isIntact).toBe(true)
  })
})

describe('damaged page of a SQLite store', () => {
  const lostOf = ({ findings }: StoreReport) => findings.filter(({ code }) => code === 'lost_records')
  const planted = async (name: string): Promise<Planted> => {
    const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
    await addNotes(one)
    overwritePage(one, name)
    return one
  }

  it.each(['search_data', 'session_list', 'sqlite_autoindex_record_1', 'sqlite_autoindex_session_1'])(
    'of %s loses no record',
    async (name) => {
      const { location, sessions } = await planted(name)
      const found = orThrow(await check(location))
      expect([found.sessions, lostOf(found)]).toEqual([4, []])
      const repaired = orThrow(await check(location, { repair: true }))
      expect(repaired).toMatchObject({ isIntact: true, sessions: 4, records: found.records, accepted: [] })
      const talk = (await contentOf(location))?.sessions.find(({ id }) => id === sessions.talk)
      expect(talk?.records.filter((record) => 'lost' in record)).toEqual([])
    },
  )

  it.each(['sqlite_autoindex_record_1', 'sqlite_autoindex_session_1'])(
    'of %s that silently lacks an entry loses no record',
    async (index) => {
      const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
      const whole = await contentOf(one.location)
      dropLastEntry(one, index)
      const found = orThrow(await check(one.location))
      expect(found.findings.map(({ code, canRepair }) => [code, canRepair])).toContainEqual(['damaged_file', true])
      expect(lostOf(found)).toEqual([])
      expect(orThrow(await check(one.location, { repair: true }))).toMatchObject({ isIntact: true, accepted: [] })
      expect(await contentOf(one.location)).toEqual(whole)
    },
  )

  it('of records loses its records, is saved, and leaves the session writable', async () => {
    const { location, sessions } = await planted('record')
    const damaged = readFileSync(location.path)
    const found = orThrow(await check(location))
    expect(found.sessions).toBe(4)
    expect(lostOf(found)).toMatchObject([{ subject: sessions.talk, canRepair: true }])
    const repaired = orThrow(await check(location, { repair: true }))
    expect(repaired.accepted).toEqual([expect.stringContaining(sessions.talk)])
    const aside = `${location.path}.quarantine`
    expect(readdirSync(aside).some((name) => readFileSync(join(aside, name)).equals(damaged))).toBe(true)

    const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ store: location.url, environment })
    const session = await holdfast.getSession(sessions.talk)
    await session.addSystemMessage('on we go')
    await holdfast.close()
    expect(orThrow(await check(location)).isIntact).toBe(true)
  })

  it('of sessions loses nothing: indexes and logs restore the rows', async () => {
    const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
    await addNotes(one)
    const whole = await contentOf(one.location)
    overwritePage(one, 'session')
    const before = hashesOf(directory)
    const found = orThrow(await check(one.location))
    expect(found.findings).toContainEqual(
      expect.objectContaining({ code: 'damaged_file', canRepair: true, loss: null }),
    )
    expect(hashesOf(directory)).toEqual(before)

    const repaired = orThrow(await check(one.location, { repair: true }))
    expect(repaired).toMatchObject({ isIntact: true, sessions: 4, accepted: [] })
    expect(await contentOf(one.location)).toEqual(whole)
  })

  it('of sessions and of their ids keeps every record: logs restore the rows, and checksums find the ids', async () => {
    const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
    await addNotes(one)
    const logsOf = async () =>
      ((await contentOf(one.location))?.sessions ?? []).map(({ records }) => JSON.stringify(records)).toSorted()
    const whole = await logsOf()
    overwritePage(one, 'session')
    overwritePage(one, 'sqlite_autoindex_session_1')
    const repaired = orThrow(await check(one.location, { repair: true }))
    expect(repaired.accepted).toEqual(['any session whose row and records cannot be read'])
    expect(await logsOf()).toEqual(whole)
    const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ store: one.location.url, environment })
    const [first] = (await holdfast.list()).sessions
    await (await holdfast.getSession(first?.id ?? '')).addSystemMessage('on we go')
    await holdfast.close()
    expect(orThrow(await check(one.location)).isIntact).toBe(true)
  })

  it('is no circular advice: an empty file is to be replaced with a backup or moved away', async () => {
    const location = locationIn(directory, 'sqlite')
    writeFileSync(location.path, '')
    const { findings } = orThrow(await check(location, { repair: true }))
    expect(findings[0]).toMatchObject({ code: 'unusable', what: expect.stringMatching(/^it is empty; .*backup.*move/) })
    expect(findings[0]?.what).not.toContain('holdfast doctor')
  })

  it('of nodes is not repaired while a process has the store open', async () => {
    const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
    change(one, `insert into node (id, address, started_at) values ('node_here', '/nowhere', '2026-01-01T00:00:00Z')`)
    overwritePage(one, 'node')
    const other = new DatabaseSync(one.location.path)
    other.prepare('select max(pos) from record').get()
    const before = readFileSync(one.location.path)
    const details = { reason: 'busy' }
    expect(await check(one.location, { repair: true })).toMatchObject({ ok: false, fault: { details } })
    expect(readFileSync(one.location.path).equals(before)).toBe(true)
    other.close()
    expect(orThrow(await check(one.location, { repair: true })).isIntact).toBe(true)
  })

  it.each([
    ['node', []],
    ['trust', ['some of what workspaces allow without asking']],
    ['draft', ['some of the answers that were not finished']],
    ['snapshot', []],
    ['blob_use', []],
    ['cursor', []],
  ])('of the table %s loses no record and no more than it reports', async (name, accepted) => {
    const one = { location: locationIn(directory, 'sqlite'), sessions: filled.sqlite }
    change(one, `insert into node (id, address, started_at) values ('node_gone', '/nowhere', '2026-01-01T00:00:00Z')`)
    change(one, `insert into draft (sid, epoch, step, parts) select sid, epoch, 1, '[]' from session limit 1`)
    const whole = await contentOf(one.location)
    overwritePage(one, name)
    const before = hashesOf(directory)
    const found = orThrow(await check(one.location))
    expect(found.findings.map(({ code, canRepair }) => [code, canRepair])).toContainEqual(['damaged_file', true])
    expect(hashesOf(directory)).toEqual(before)

    const repaired = orThrow(await check(one.location, { repair: true }))
    expect(repaired).toMatchObject({ isIntact: true, sessions: 4, accepted })
    expect((await contentOf(one.location))?.sessions).toEqual(whole?.sessions)
    expect(orThrow(await check(one.location)).isIntact).toBe(true)
  })
})
