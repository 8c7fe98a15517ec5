import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { contentOf, type FilledStore, fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { check } from './check-store.ts'
import { logOf } from './testing/jsonl-damages.ts'
import { flipAt } from './testing/planted-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-lost-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

type Damage = (location: DiskLocation, session: string) => void

function changeTables({ path }: DiskLocation, statement: string, session: string): void {
  using database = new DatabaseSync(path)
  database.prepare(statement).run(session)
}
const ofSession = 'where sid = (select sid from session where id = ?)'

function flipFirstRecord(location: DiskLocation, session: string): void {
  const log = logOf({ location, sessions: {} as FilledStore }, session) // only the location is used
  const [header = ''] = readFileSync(log, 'latin1').split('\n')
  flipAt(log, header.length + 40)
}

const cases: readonly (readonly [what: string, DiskLocation['kind'], Damage])[] = [
  ['its first record', 'sqlite', (at, id) => changeTables(at, `delete from record ${ofSession} and seq = 1`, id)],
  ['all its records', 'sqlite', (at, id) => changeTables(at, `delete from record ${ofSession}`, id)],
  ['its first record', 'jsonl', flipFirstRecord],
]

describe('a session that lost', () => {
  it.each(cases)('%s (%s) is removed by a repair, reported, and kept in the quarantine', async (what, kind, damage) => {
    const location = locationIn(base, kind)
    const { talk, fork } = await fillStore(location, join(base, 'aside'))
    const ofFork = async () => (await contentOf(location))?.sessions.find(({ id }) => id === fork)
    const forkBefore = await ofFork()
    damage(location, talk)

    const finding = orThrow(await check(location)).findings.find(({ subject }) => subject === talk)
    expect(finding).toMatchObject({ code: 'lost_records', canRepair: true })
    expect(finding?.what).toMatch(/cannot be opened; --repair removes it/)
    const report = orThrow(await check(location, { repair: true }))
    expect(report.isIntact).toBe(true)
    expect(report.accepted.join('\n')).toContain(
      `session ${talk} with ${what === 'all its records' ? what : 'records 1'}`,
    )
    expect(orThrow(await check(location)).isIntact).toBe(true)

    const aside = kind === 'sqlite' ? `${location.path}.quarantine` : join(location.path, 'quarantine')
    const kept = readdirSync(aside).find((name) => name.startsWith(`${talk}.jsonl`)) ?? ''
    const text = readFileSync(join(aside, kept), 'utf8')
    expect(text).toContain(what === 'all its records' ? talk : 'hello there')
    const forkAfter = await ofFork()
    expect(forkAfter?.head).toBeGreaterThanOrEqual(forkBefore?.head ?? 0)
    const listed = (await contentOf(location))?.sessions.filter(({ isPurged }) => !isPurged).map(({ id }) => id)
    expect(listed).toContain(fork)
    expect(listed).not.toContain(talk)
  })
})
