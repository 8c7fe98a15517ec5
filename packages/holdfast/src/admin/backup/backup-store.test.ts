import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { contentOf, fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import type { ReadProgress } from '../../store/read-only-store.ts'
import { check } from '../doctor/check-store.ts'
import { backup } from './backup-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-backup-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const modesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(directory, name)).mode & 0o077)
    .filter((mode) => mode !== 0)

describe.each(['sqlite', 'jsonl'] as const)('backup of a %s store', (kind) => {
  let from: DiskLocation
  let copy: DiskLocation
  beforeEach(() => {
    from = locationIn(base, kind)
    copy = locationIn(base, kind, 'copy')
  })

  it('holds every session, record and blob, is private, and passes a check', async () => {
    await fillStore(from, join(base, 'aside'))
    const umask = process.umask(0)
    const read: ReadProgress[] = []
    const made = orThrow(
      await backup(from, copy.path, (progress) => read.push(progress)).finally(() => process.umask(umask)),
    )
    expect(read.at(-1)).toEqual({ records: made.records, total: made.records })
    expect(made).toMatchObject({ url: copy.url, sessions: 4, lost: 0, missingBlobs: [] })
    expect(made.blobs).toBeGreaterThan(0)
    const [before, after] = [await contentOf(from), await contentOf(copy)]
    expect(after).toEqual(before)
    expect(made.records).toBe(before?.sessions.reduce((sum, { records }) => sum + records.length, 0))
    expect(orThrow(await check(copy)).findings.filter(({ severity }) => severity !== 'info')).toEqual([])
    expect(modesIn(copy.blobsDir)).toEqual([])
    expect(statSync(copy.path).mode & 0o077).toBe(0)
    expect(readdirSync(base).filter((name) => name.includes('.new-'))).toEqual([])
  })

  it('is consistent while sessions run and can be continued', async () => {
    await fillStore(from, join(base, 'aside'))
    const environment = { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ store: from.url, environment })
    const stop = new AbortController()
    const session = await holdfast.startSession({ workdir: base })
    const writing = (async () => {
      while (!stop.signal.aborted) await session.addSystemMessage('another line')
    })()
    const made = orThrow(await backup(from, copy.path))
    stop.abort()
    await writing
    await holdfast.close()
    expect(made.lost).toBe(0)
    expect(orThrow(await check(copy)).isIntact).toBe(true)

    const other = await openHoldfast({
      store: copy.url,
      environment: { ...environment, HOLDFAST_HOME: join(base, 'other') },
    })
    const [listed] = (await other.list()).sessions
    await other.sendPrompt(listed?.id ?? '', 'still there?')
    await other.close()
  })

  it('replaces nothing and leaves no files when it is refused', async () => {
    expect(await backup(from, copy.path)).toMatchObject({ ok: false, fault: { code: 'not_found' } })
    await fillStore(from, join(base, 'aside'))
    writeFileSync(copy.path, 'precious')
    expect(await backup(from, copy.path)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(await backup(from, join(base, 'no', 'where'))).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(readdirSync(base).filter((name) => name.includes('.new-'))).toEqual([])
  })

  it('names the blobs that the store has lost', async () => {
    await fillStore(from, join(base, 'aside'))
    const [file] = readdirSync(from.blobsDir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    if (!file) throw new Error('the store has blobs')
    chmodSync(join(file.parentPath, file.name), 0o600)
    writeFileSync(join(file.parentPath, file.name), 'something else')
    expect(orThrow(await backup(from, copy.path)).missingBlobs).toHaveLength(1)
  })
})

describe('backup', () => {
  it('fails for a damaged store file', async () => {
    const from = locationIn(base, 'sqlite')
    await fillStore(from, join(base, 'aside'))
    const database = new DatabaseSync(from.path)
    database.enableDefensive(false)
    database.exec(`pragma writable_schema = on; update sqlite_schema set rootpage = 3 where name = 'record_ref'`)
    database.close()
    expect(await backup(from, join(base, 'copy'))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(readdirSync(base).filter((name) => name.startsWith('copy'))).toEqual([])
  })

  it('fails if the drafts cannot be read', async () => {
    const from = locationIn(base, 'jsonl')
    await fillStore(from, join(base, 'aside'))
    rmSync(join(from.path, 'drafts'), { recursive: true })
    writeFileSync(join(from.path, 'drafts'), 'no folder')
    expect(await backup(from, join(base, 'copy'))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    rmSync(join(from.path, 'drafts'))
    expect(await backup(from, join(base, 'copy'))).toMatchObject({ ok: true, value: { sessions: 4 } })
  })
})
