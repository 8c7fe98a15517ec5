import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { contentOf, type FilledStore, fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { check } from './check-store.ts'
import { logOf } from './testing/jsonl-damages.ts'

let base = ''
let location: DiskLocation
let sessions: FilledStore
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-loss-'))
  location = locationIn(base, 'jsonl')
  sessions = await fillStore(location, join(base, 'aside'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const repair = async () => orThrow(await check(location, { repair: true }))
const keptAside = () =>
  readdirSync(join(location.path, 'quarantine'))
    .map((name) => readFileSync(join(location.path, 'quarantine', name), 'utf8'))
    .join('')

describe('repair of lost data', () => {
  it('reports a session with a missing log as lost and saves its catalogue row', async () => {
    const head = (await contentOf(location))?.sessions.find(({ id }) => id === sessions.trashed)?.head
    rmSync(logOf({ location, sessions }, sessions.trashed))
    const [finding] = orThrow(await check(location)).findings
    expect(finding).toMatchObject({ code: 'missing_log', loss: expect.stringContaining(sessions.trashed) })
    const report = await repair()
    expect(report.accepted).toEqual([`session ${sessions.trashed} with records 1 to ${head}`])
    expect(keptAside()).toContain(sessions.trashed)
    expect(await repair()).toMatchObject({ isIntact: true, accepted: [] })
  })

  it('names the records that a truncated log has lost', async () => {
    const log = logOf({ location, sessions }, sessions.fork)
    const head = (await contentOf(location))?.sessions.find(({ id }) => id === sessions.fork)?.head ?? 0
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    truncateSync(log, Buffer.byteLength(`${lines.slice(0, -1).join('\n')}\n`))
    const report = await repair()
    const after = (await contentOf(location))?.sessions.find(({ id }) => id === sessions.fork)?.head ?? 0
    expect(after).toBeLessThan(head)
    const which = head - after === 1 ? `record ${head}` : `records ${after + 1} to ${head}`
    expect(report).toMatchObject({ isIntact: true, accepted: [`${which} of ${sessions.fork}`] })
  })
})

describe('repair', () => {
  it('reports where it moved the unacknowledged end of a log', async () => {
    appendFileSync(logOf({ location, sessions }, sessions.talk), '{"seq":99,"at":"20')
    const report = await repair()
    expect(report.messages.join()).toContain(`${sessions.talk}.jsonl.torn-1`)
    expect(report.accepted).toEqual([])
  })
})
