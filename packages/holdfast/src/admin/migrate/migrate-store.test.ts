import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Draft } from '@holdfast/core/ports'
import { Key, orThrow, StepId } from '@holdfast/protocol'
import { entryOf, newSession, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import {
  contentOf,
  type FilledStore,
  fillStore,
  hashesOf,
  locationIn,
  trashedAt,
} from '../../store/open/testing/a-store.ts'
import { addNotes, overwritePage } from '../doctor/testing/sqlite-damages.ts'
import { migrationOwner } from './copy-session.ts'
import { type MigrateDeps, migrate } from './migrate-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-migrate-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function blobFilesIn(directory: string): readonly { readonly path: string; readonly hash: string }[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const found = names.filter((name) => /^[0-9a-f]{2}[/][0-9a-f]{62}$/.test(name)).toSorted()
  return found.map((name) => ({ path: join(directory, name), hash: name.replace('/', '') }))
}

const run = (from: DiskLocation, to: DiskLocation, more: Partial<MigrateDeps> = {}) =>
  migrate({ from, to, onProblem: ({ cause }) => expect.fail(String(cause)), ...more })

describe.each([
  ['sqlite', 'jsonl'],
  ['jsonl', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['jsonl', 'jsonl'],
] as const)('a migration from %s to %s', (one, other) => {
  let from: DiskLocation
  let to: DiskLocation
  let filled: FilledStore
  beforeEach(async () => {
    mkdirSync(join(base, 'source'))
    from = locationIn(join(base, 'source'), one)
    to = locationIn(base, other, 'target')
    filled = await fillStore(from, join(base, 'aside'))
  })

  it('copies every record, row, trust and blob and does not change the source', async () => {
    const before = hashesOf(join(base, 'source'))
    const migrated = orThrow(await run(from, to))
    expect(migrated).toMatchObject({ copied: 5, kept: 0, refused: [], missingBlobs: [] })
    expect(migrated.blobs).toBeGreaterThan(0)
    expect(hashesOf(join(base, 'source'))).toEqual(before)
    const [source, target] = [await contentOf(from), await contentOf(to)]
    expect(target).toEqual(source)
    expect(target?.trusts).toMatchObject([{ trust: { tool: 'write_file' } }])
    expect(target?.tokens).toMatchObject([{ name: 'phone', role: 'driver' }])
    expect(migrated.records).toBe(source?.sessions.reduce((sum, { records }) => sum + records.length, 0))
    const found = (id: string) => target?.sessions.find((session) => session.id === id)
    expect(found(filled.trashed)).toMatchObject({ trashedAt, owner: null })
    expect(found(filled.purged)).toMatchObject({ isPurged: true })
    expect(found(filled.orphan)).toMatchObject({ parent: filled.purged })
  })

  it('gives the same result when it runs again and continues an interrupted run', async () => {
    const stop = new AbortController()
    await run(from, to, { signal: stop.signal, onProgress: ({ records }) => records > 20 && stop.abort() })
    const again = orThrow(await run(from, to))
    expect(again.copied).toBeGreaterThan(0)
    expect(again.refused).toEqual([])
    expect(await contentOf(to)).toEqual(await contentOf(from))
    expect(orThrow(await run(from, to))).toMatchObject({ copied: 0, kept: 5, refused: [], records: again.records })
  })

  it('rejects a target with other sessions and names one', async () => {
    orThrow(await run(from, to))
    const opened = orThrow(await openDiskStore(to, () => undefined))
    const lease = orThrow(await opened.store.claim(filled.talk, migrationOwner, null))
    const row = await opened.store.entry(filled.talk)
    if (row === null) throw new Error('the session is there')
    const event = { type: 'note.added', turn: null, kind: 'system', level: 'info', text: 'one more' } as never
    const record = { seq: row.head + 1, at: row.entry.meta.createdAt, v: 1, event }
    orThrow(
      await opened.store.append({
        session: filled.talk,
        after: row.head,
        epoch: lease.epoch,
        entry: row.entry,
        clearDraft: false,
        records: [{ record, body: JSON.stringify(event) }],
        blobs: [],
        trust: [],
      }),
    )
    await opened.store.close()
    const again = orThrow(await run(from, to))
    expect(again.refused.map(({ session }) => session)).toContain(filled.talk)

    const empty = locationIn(base, one, 'empty')
    await orThrow(await openDiskStore(empty, () => undefined)).store.close()
    expect(await run(empty, to)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })
})

describe.each([
  ['sqlite', 'jsonl'],
  ['jsonl', 'sqlite'],
] as const)('a migration from %s to %s carries over', (one, other) => {
  it('the draft of a running answer, the key and the pin of a session', async () => {
    const [from, to] = [locationIn(base, one, 'from'), locationIn(base, other, 'to')]
    const [id, key] = [sessionId(1), Key.parse('my-own-key')]
    const draft: Draft = { step: StepId.parse(1), parts: [{ type: 'text', text: 'Once upon' }] }
    const { store } = orThrow(await openDiskStore(from, () => undefined))
    orThrow(await store.create(newSession(1, { entry: entryOf(1, { meta: { key, pinned: true } }) })))
    orThrow(await store.saveDraft(id, 1, draft))
    await store.release(id, newSession(1).owner, 1)
    await store.close()

    expect(orThrow(await run(from, to))).toMatchObject({ copied: 1, refused: [] })
    const target = orThrow(await openReadOnlyStore(to))
    if (target === null) throw new Error('the target is there')
    expect(await target.find({ type: 'key', key })).toEqual([id])
    expect((await target.entry(id))?.entry.meta).toMatchObject({ key, pinned: true })
    expect(await target.loadDraft(id)).toEqual(draft)
    await target.close()
  })
})

describe('migration', () => {
  it('rejects a source with an open session and names it', async () => {
    const [from, to] = [locationIn(base, 'sqlite'), locationIn(base, 'jsonl')]
    const environment = { HOLDFAST_HOME: join(base, 'home') }
    const holdfast = await openHoldfast({ store: from.url, environment })
    const { id } = await holdfast.startSession({ workdir: base })
    expect(await run(from, to)).toMatchObject({
      ok: false,
      fault: { code: 'session_locked', details: { sessions: [id] } },
    })
    expect(existsSync(to.path)).toBe(false)
    await holdfast.close()
    expect(await run(from, to)).toMatchObject({ ok: true })
  })

  it('copies a blob again that is damaged in the target and reports one that the source has lost', async () => {
    const [from, to] = [locationIn(base, 'sqlite'), locationIn(base, 'jsonl')]
    await fillStore(from, join(base, 'aside'))
    orThrow(await run(from, to))
    const [whole, ...others] = blobFilesIn(to.blobsDir)
    if (whole === undefined) throw new Error('there are blobs')
    const bytes = readFileSync(whole.path)
    writeFileSync(whole.path, 'other bytes')
    expect(orThrow(await run(from, to))).toMatchObject({ copied: 0, blobs: 1, missingBlobs: [] })
    expect(readFileSync(whole.path)).toEqual(bytes)

    writeFileSync(whole.path, 'other bytes')
    for (const { path, hash } of blobFilesIn(from.blobsDir)) if (hash === whole.hash) writeFileSync(path, 'lost too')
    expect(orThrow(await run(from, to))).toMatchObject({ blobs: 0, missingBlobs: [whole.hash] })
    expect(blobFilesIn(to.blobsDir)).toHaveLength(others.length + 1)
  })

  it('does not move the files of the source or change their modes', async () => {
    const [from, to] = [locationIn(base, 'sqlite'), locationIn(base, 'jsonl')]
    await fillStore(from, join(base, 'aside'))
    const [blob] = blobFilesIn(from.blobsDir)
    if (blob === undefined) throw new Error('there are blobs')
    mkdirSync(join(from.blobsDir, 'aside'), { recursive: true })
    renameSync(blob.path, join(from.blobsDir, 'aside', blob.hash))
    chmodSync(from.blobsDir, 0o755)
    const before = hashesOf(base)
    expect(orThrow(await run(from, to))).toMatchObject({ refused: [], missingBlobs: [] })
    expect(hashesOf(base)).toMatchObject(before)
    expect(existsSync(blob.path)).toBe(false)
    expect(statSync(from.blobsDir).mode & 0o777).toBe(0o755)
  })

  it('skips a session with a damaged record and its forks and copies the rest', async () => {
    const [from, to] = [locationIn(base, 'sqlite'), locationIn(base, 'jsonl')]
    const { talk, fork, orphan } = await fillStore(from, join(base, 'aside'))
    const database = new DatabaseSync(from.path)
    database.prepare(`update record set body = replace(body, 'hello', 'jello') where type = 'user.said'`).run()
    database.close()
    const migrated = orThrow(await run(from, to))
    expect(migrated.refused.map(({ session }) => session)).toEqual([talk, fork])
    expect(migrated.refused[0]?.why).toMatch(/cannot be read: \d/)
    expect((await contentOf(to))?.sessions.map(({ id }) => id)).toContain(orphan)
  })

  it('copies the readable sessions of a store with a damaged page and names the others', async () => {
    const [from, to] = [locationIn(base, 'sqlite'), locationIn(base, 'jsonl')]
    const sessions = await fillStore(from, join(base, 'aside'))
    await addNotes({ location: from, sessions })
    overwritePage({ location: from, sessions }, 'record')
    overwritePage({ location: from, sessions }, 'sqlite_autoindex_session_1')
    const migrated = orThrow(await run(from, to))
    expect(migrated.refused.map(({ session }) => session)).toEqual([sessions.talk, sessions.fork])
    const carried = (await contentOf(to))?.sessions.map(({ id }) => id)
    expect(carried).toEqual(expect.arrayContaining([sessions.trashed, sessions.orphan]))
  })

  it('removes temporary files of a killed migration but not those of a running one', async () => {
    const [from, to] = [locationIn(base, 'jsonl'), locationIn(base, 'sqlite')]
    await fillStore(from, join(base, 'aside'))
    const dead = spawnSync(process.execPath, ['--version']).pid
    const [left, living] = [`${to.path}.new-${dead}-0a1b`, `${to.path}.new-${process.pid}-0a1b`]
    for (const file of [left, `${left}-wal`, living]) writeFileSync(file, '')
    orThrow(await run(from, to))
    expect([left, `${left}-wal`, living].map((file) => existsSync(file))).toEqual([false, false, true])
  })

  it('rejects a missing source, the source as target, and a target in use', async () => {
    const [from, to] = [locationIn(base, 'jsonl'), locationIn(base, 'sqlite')]
    expect(await run(from, to)).toMatchObject({ ok: false, fault: { code: 'not_found' } })
    expect(await run(from, from)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    const open = orThrow(await openDiskStore(from, () => undefined))
    expect(await run(from, to)).toMatchObject({
      ok: false,
      fault: { code: 'session_locked', details: { pid: process.pid } },
    })
    await open.store.close()
    writeFileSync(to.path, 'not a store')
    expect(await run(from, to)).toMatchObject({ ok: false, fault: { code: 'not_a_store' } })
  })
})
