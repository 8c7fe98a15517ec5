import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { contentOf, type FilledStore, fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { check } from './check-store.ts'
import { addNotes } from './testing/sqlite-damages.ts'

let base = ''
let location: DiskLocation
let sessions: FilledStore
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-short-'))
  location = locationIn(base, 'sqlite')
  sessions = await fillStore(location, join(base, 'aside'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const pageBytes = 4096

describe('repair of a SQLite file', () => {
  it('with a wrong byte in its header loses nothing, and saves the file as it was', async () => {
    const whole = await contentOf(location)
    const bytes = readFileSync(location.path)
    bytes.writeUInt8(bytes.readUInt8(17) ^ 0xff, 17)
    writeFileSync(location.path, bytes)
    const report = orThrow(await check(location, { repair: true }))
    expect(report).toMatchObject({ isIntact: true, accepted: [], findings: [{ code: 'damaged_file' }] })
    expect(report.findings[0]?.what).toContain('the page size in its header is wrong')
    expect(await contentOf(location)).toEqual(whole)
    const aside = `${location.path}.quarantine`
    expect(readdirSync(aside).some((name) => readFileSync(join(aside, name)).equals(bytes))).toBe(true)
  })

  it('that lacks its last pages names the records it has lost, and keeps the others', async () => {
    await addNotes({ location, sessions })
    const records = async () =>
      (await contentOf(location))?.sessions.find(({ id }) => id === sessions.talk)?.records ?? []
    const before = await records()
    truncateSync(location.path, readFileSync(location.path).length - 6 * pageBytes)
    const report = orThrow(await check(location, { repair: true }))
    expect(report.isIntact).toBe(true)
    expect(report.findings[0]?.what).toMatch(/its header gives \d+ pages, but the file has \d+/)
    const after = await records()
    const lost = after.filter((record) => 'lost' in record)
    expect(report.accepted.join(' ').includes(sessions.talk)).toBe(lost.length > 0)
    for (const [index, record] of after.entries())
      if (!('lost' in record) && index < before.length) expect(record).toEqual(before[index])
    expect(after.length).toBeGreaterThanOrEqual(before.length)
  })

  it('without its header loses nothing', async () => {
    const whole = await contentOf(location)
    overwrite(100)
    const report = orThrow(await check(location, { repair: true }))
    expect(report).toMatchObject({ isIntact: true, accepted: [], findings: [{ code: 'damaged_file' }] })
    expect(report.findings[0]?.what).toContain('its header cannot be read')
    expect(await contentOf(location)).toEqual(whole)
  })

  it('without its list of tables finds sessions and records by their rows, and says what is missing', async () => {
    const whole = await contentOf(location)
    overwrite(pageBytes)
    expect(orThrow(await check(location)).sessions).toBe(4)
    const report = orThrow(await check(location, { repair: true }))
    expect(report.isIntact).toBe(true)
    expect(report.findings[0]?.what).toBe('its header cannot be read; its list of tables cannot be read')
    expect(report.accepted).toEqual([expect.stringContaining('what workspaces allow without asking')])
    const after = await contentOf(location)
    expect(after?.sessions).toEqual(whole?.sessions)
    expect(after?.trusts).toEqual([])
  })

  it('without a header is refused and left alone if it has no session', async () => {
    const path = join(base, 'other.db')
    const other = new DatabaseSync(path)
    other.exec(`create table diary (entry text); insert into diary values ('ses_1')`)
    other.close()
    for (const bytes of [100, pageBytes]) {
      overwrite(bytes, path)
      const before = readFileSync(path)
      const report = orThrow(await check({ ...location, path }, { repair: true }))
      expect(report.isIntact).toBe(false)
      expect(report.findings.map(({ code }) => code)).toContain('unusable')
      expect(report.findings.filter(({ canRepair }) => canRepair)).toEqual([])
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(readdirSync(base).filter((name) => name.startsWith('other.db'))).toEqual(['other.db'])
    }
  })
})

/** Overwrites the beginning of a file with zeros. */
function overwrite(bytes: number, path = location.path): void {
  writeFileSync(path, readFileSync(path).fill(0, 0, bytes))
}
