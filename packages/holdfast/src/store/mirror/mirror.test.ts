import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Blobs, Store } from '@holdfast/core/ports'
import {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  sessionId,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { openJsonlStore } from '../jsonl/jsonl-store.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/sqlite-store.ts'
import { createMirroredBlobs, type Mirror, openMirror } from './mirror.ts'

let home = ''
let directory = ''
let store: SqliteStore
let blobs: Blobs
const mirrors: Mirror[] = []
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-mirror-'))
  directory = join(home, 'mirror')
  blobs = createMemoryBlobs()
  store = await openStore()
})
afterEach(async () => {
  for (const mirror of mirrors.splice(0)) await mirror.close()
  await store.close()
  rmSync(home, { recursive: true, force: true })
})

async function openStore(): Promise<SqliteStore> {
  const opened = await openSqliteStore({ path: join(home, 'holdfast.db') })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

const problems: unknown[] = []
const attempt = (log = store.followed) =>
  openMirror({ log, blobs, directory, now: () => 0, onProblem: (problem) => void problems.push(problem) })

async function mirror(log = store.followed): Promise<Mirror> {
  const opened = await attempt(log)
  if (!opened.ok) throw new Error(opened.fault.message)
  mirrors.push(opened.value)
  return opened.value
}

async function asStore(): Promise<Store> {
  const opened = await openJsonlStore({
    directory,
    now: () => 0,
    entryOf: async () => null,
    onProblem: () => undefined,
  })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

const logOf = (number: number) => join(directory, `${sessionId(number)}.jsonl`)
const linesOf = (number: number) => readFileSync(logOf(number), 'utf8').trimEnd().split('\n').slice(1)
const seqsIn = (number: number) => linesOf(number).map((line) => JSON.parse(line).seq)

/** Returns these sessions as a reader of either store sees them. */
async function seen(of: Store, numbers: readonly number[]) {
  const { sessions } = await of.list({ limit: 100 })
  return {
    list: sessions.map(({ meta, busy }) => ({ meta, busy })),
    logs: await Promise.all(numbers.map((number) => readAll(of, number))),
    heads: await Promise.all(numbers.map(async (number) => (await of.entry(sessionId(number)))?.head)),
  }
}

describe('a mirror', () => {
  it('has each append within a second', async () => {
    await mirror()
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1))
    await vi.waitFor(() => expect(seqsIn(1)).toEqual([1, 2]), { timeout: 1000, interval: 10 })
    await mustAppend(store, appendTo(1, 2))
    await vi.waitFor(() => expect(seqsIn(1)).toEqual([1, 2, 3]), { timeout: 1000, interval: 10 })
  })

  it('opens as a store with the same sessions, including forks of purged ones', async () => {
    const copy = await mirror()
    await mustCreate(store, newSession(1), newSession(5, { entry: entryOf(5, { spoken: false }) }))
    await mustAppend(store, appendTo(1, 1, { records: textsAfter(1, 'b', 'c') }))
    await mustCreate(store, newSession(2, { parent: sessionId(1), base: 2 }))
    await mustAppend(store, appendTo(2, 3, { entry: entryOf(2, { activeAt: 99, meta: { title: 'Renamed' } }) }))
    await copy.caughtUp()
    await store.release(sessionId(1), 'node-a', 1)
    await store.purge(sessionId(1))
    await store.removeUnspoken(['node-a'])
    await mustCreate(store, newSession(3), newSession(4))
    await copy.close()
    mirrors.length = 0

    const numbers = [1, 2, 3, 4, 5]
    const opened = await asStore()
    expect(await seen(opened, numbers)).toEqual(await seen(store, numbers))
    await opened.close()
    expect(
      readdirSync(directory)
        .filter((name) => name.startsWith('ses_'))
        .toSorted(),
    ).toEqual([`${sessionId(1)}.shared.jsonl`, ...[2, 3, 4].map((number) => `${sessionId(number)}.jsonl`)])
  })

  it('has the same trash as the store within a second, without purged sessions', async () => {
    const trashed = () => JSON.parse(readFileSync(join(directory, 'trash.json'), 'utf8')).trashed
    const soon = { timeout: 1000, interval: 10 }
    await mirror()
    await mustCreate(store, newSession(1), newSession(2), newSession(3))
    for (const number of [1, 2, 3]) await store.release(sessionId(number), 'node-a', 1)
    await store.trash(sessionId(1), 70)
    await vi.waitFor(() => expect(trashed()).toEqual({ [sessionId(1)]: 70 }), soon)
    await store.trash(sessionId(2), 80)
    await store.trash(sessionId(3), 90)
    await store.restore(sessionId(1))
    await vi.waitFor(() => expect(trashed()).toEqual({ [sessionId(2)]: 80, [sessionId(3)]: 90 }), soon)
    await store.purge(sessionId(3))
    await vi.waitFor(() => expect(readdirSync(directory)).not.toContain(`${sessionId(3)}.jsonl`), soon)
    await mirrors.pop()?.close()

    const opened = await asStore()
    const inTrash = async (of: Store) =>
      (await of.list({ limit: 9, trashed: true })).sessions.map(({ meta, trashedAt }) => [meta.id, trashedAt])
    expect(await inTrash(opened)).toEqual([[sessionId(2), 80]])
    expect(await inTrash(opened)).toEqual(await inTrash(store))
    expect(await seen(opened, [1, 2, 3])).toEqual(await seen(store, [1, 2, 3]))
    await opened.close()
  })

  it('catches up on sessions that were trashed while no mirror ran', async () => {
    await mustCreate(store, newSession(1))
    await store.release(sessionId(1), 'node-a', 1)
    await (await mirror()).close()
    mirrors.length = 0
    await store.trash(sessionId(1), 70)
    await (await mirror()).close()
    mirrors.length = 0
    const opened = await asStore()
    expect((await opened.entry(sessionId(1)))?.trashedAt).toBe(70)
    await opened.close()
  })

  it('misses no record whose position is reused', async () => {
    const copy = await mirror()
    await mustCreate(store, newSession(1), newSession(2))
    await copy.caughtUp()
    await store.release(sessionId(2), 'node-a', 1)
    await store.purge(sessionId(2)) // frees the last positions
    await mustCreate(store, newSession(3))
    await copy.caughtUp()
    expect(seqsIn(3)).toEqual([1])
    expect(readdirSync(directory)).not.toContain(`${sessionId(2)}.jsonl`)
  })

  it('continues after a crash from its cursor, without repeated records or torn lines', async () => {
    const first = await mirror()
    await mustCreate(store, newSession(1), newSession(2))
    await first.close()
    mirrors.length = 0
    appendFileSync(logOf(1), '{"seq":2,"at":"2026')
    // As after a crash before it saved its cursor.
    const database = new DatabaseSync(join(home, 'holdfast.db'), { timeout: 5000 })
    database.exec(`update cursor set pos = 0 where name like 'mirror:%'`)
    database.close()
    await mustAppend(store, appendTo(1, 1))
    await (await mirror()).caughtUp()
    expect(seqsIn(1)).toEqual([1, 2])
    expect(seqsIn(2)).toEqual([1])
    expect(readdirSync(directory).filter((name) => name.includes('.torn-'))).toHaveLength(1)
  })

  it('restores files that were deleted from its directory', async () => {
    const first = await mirror()
    await mustCreate(store, newSession(1), newSession(2))
    await first.close()
    mirrors.length = 0
    rmSync(logOf(1))
    await (await mirror()).close()
    mirrors.length = 0
    expect(seqsIn(1)).toEqual([1])
    rmSync(directory, { recursive: true })
    await (await mirror()).caughtUp()
    expect([seqsIn(1), seqsIn(2)]).toEqual([[1], [1]])
  })

  it('copies the blobs that records refer to', async () => {
    const put = await blobs.put([Buffer.from('a picture')])
    if (!put.ok) throw new Error(put.fault.message)
    const { hash } = put.value
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1, { blobs: [hash] }))
    await (await mirror()).caughtUp()
    expect(readFileSync(join(directory, 'blobs', hash.slice(0, 2), hash.slice(2)), 'utf8')).toBe('a picture')
  })

  it('removes unused copies of blobs when the store is swept', async () => {
    const copy = await mirror()
    const mirrored = createMirroredBlobs(blobs, copy, ({ cause }) => expect.fail(String(cause)))
    const [kept, gone] = [await blobs.put([Buffer.from('kept')]), await blobs.put([Buffer.from('gone')])]
    if (!kept.ok || !gone.ok) throw new Error('memory takes it')
    await mustCreate(store, newSession(1, { blobs: [kept.value.hash] }), newSession(2, { blobs: [gone.value.hash] }))
    await copy.caughtUp()
    await store.release(sessionId(2), 'node-a', 1)
    await store.purge(sessionId(2))
    const later = (times: number) => ({ now: Date.now() + times * 60_000, graceMs: 30_000 })
    const areUsed = await store.blobsInUse()
    await mirrored.sweep(areUsed, later(1)) // this sweep sets it aside, the next removes it
    await mirrored.sweep(areUsed, later(2))
    const there = readdirSync(join(directory, 'blobs'), { recursive: true, withFileTypes: true })
    expect(there.filter((one) => one.isFile()).map(({ name }) => name)).toEqual([kept.value.hash.slice(2)])
  })

  it('is written by one of two processes, and by the other after the first ends', async () => {
    const first = await mirror()
    const other = await openStore()
    const second = await mirror(other.followed)
    await mustCreate(other, newSession(1))
    await first.caughtUp()
    expect(seqsIn(1)).toEqual([1])
    await first.close()
    mirrors.shift()
    await mustAppend(store, appendTo(1, 1))
    await second.caughtUp()
    expect(seqsIn(1)).toEqual([1, 2])
    await second.close()
    mirrors.length = 0
    await other.close()
  })

  it('is refused in a directory with an open store or other files', async () => {
    const opened = await asStore()
    expect(codeOf(await attempt())).toBe('session_locked')
    await opened.close()
    directory = join(home, 'other')
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory)
    writeFileSync(join(directory, 'notes.txt'), 'mine')
    expect(codeOf(await attempt())).toBe('not_a_store')
  })

  it('keeps the seq of a record that the store has lost', async () => {
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1))
    await mustAppend(store, appendTo(1, 2))
    await store.close()
    const database = new DatabaseSync(join(home, 'holdfast.db'), { timeout: 5000 })
    database.exec(`update record set body = '{}' where seq = 2`)
    database.close()
    store = await openStore()
    await (await mirror()).close()
    mirrors.length = 0
    expect(seqsIn(1)).toEqual([1, 3])
    const opened = await asStore()
    expect(await seen(opened, [1])).toEqual(await seen(store, [1]))
    await opened.close()
  })
})

describe('the cursor of a follower', () => {
  it('returns later records in the order of commits, page by page', async () => {
    await mustCreate(store, newSession(1), newSession(2))
    await mustAppend(store, appendTo(1, 1))
    const first = await store.followed.follow('one', 2)
    expect(first.records.map(({ session, record }) => [session, record.seq])).toEqual([
      [sessionId(1), 1],
      [sessionId(2), 1],
    ])
    await store.followed.saveCursor('one', first)
    const second = await store.followed.follow('one', 2)
    expect(second).toMatchObject({ records: [{ session: sessionId(1), record: { seq: 2 } }], pos: 3, removals: 0 })
    expect((await store.followed.follow('other', 9)).records).toHaveLength(3)
  })

  it('is not moved by a page that was read before a removal', async () => {
    await mustCreate(store, newSession(1), newSession(2))
    const page = await store.followed.follow('one', 9)
    await store.release(sessionId(2), 'node-a', 1)
    await store.purge(sessionId(2))
    await store.followed.saveCursor('one', page)
    await mustCreate(store, newSession(3))
    const again = await store.followed.follow('one', 9)
    expect(again.removals).toBe(1)
    expect(again.records.map(({ session }) => session)).toEqual([sessionId(1), sessionId(3)])
  })

  it('is lowered when records before it are removed', async () => {
    await mustCreate(store, newSession(1), newSession(2))
    await store.followed.saveCursor('one', await store.followed.follow('one', 9))
    await store.release(sessionId(2), 'node-a', 1)
    await store.purge(sessionId(2))
    await mustCreate(store, newSession(3))
    expect((await store.followed.follow('one', 9)).records).toMatchObject([{ session: sessionId(3) }])
  })
})
