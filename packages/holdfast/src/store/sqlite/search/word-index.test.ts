import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Search } from '@holdfast/core/ports'
import {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  recordAt,
  sessionId,
  textSaid,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openReadOnlySqlite } from '../read-only-store.ts'
import { encodeAppend, encodeNew } from '../rows/encode-changes.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite-store.ts'
import { catchUpIndex, createWriter } from '../write/writer.ts'
import { createSearchReader } from './search-reader.ts'

let path = ''
let store: SqliteStore | null = null
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-search-')), 'holdfast.db')
})
afterEach(async () => {
  await store?.close()
  store = null
  rmSync(dirname(path), { recursive: true, force: true })
})

async function open(): Promise<SqliteStore> {
  const opened = await openSqliteStore({ path })
  if (!opened.ok) throw new Error(opened.fault.message)
  store = opened.value
  return store
}

/** Changes the file without the store, like real damage. */
function tamper(statements: string): void {
  const database = new DatabaseSync(path, { timeout: 10_000, defensive: false })
  database.exec(statements)
  database.close()
}

const messagesOf = async (held: Search, text: string) => {
  const found = await held.search({ text, limit: 10 })
  return found.ok ? found.value.hits.map(({ message }) => message).toSorted() : found.fault.code
}

const words = (count: number) =>
  newSession(1, {
    records: Array.from({ length: count }, (_, index) => recordAt(index + 1, textSaid(`word ${index}`))),
  })

describe('the word index of a SQLite store', () => {
  it('follows the log, also for a process that only reads the file', async () => {
    await mustCreate(await open(), words(500))
    const source = openReadOnlySqlite(path)
    if (!source.ok || source.value === null) throw new Error('it opens')
    const { value } = source
    await vi.waitFor(async () => expect(await messagesOf(value, '499')).toEqual([500]), {
      timeout: 10_000,
      interval: 20,
    })
    await value.close()
  })

  it('has each append within a second under constant writes', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const writer = createWriter({ path })
    onTestFinished(() => writer.close())
    writer.run([['open'], encodeNew(words(1))])
    const reader = new DatabaseSync(path, { readOnly: true })
    onTestFinished(() => reader.close())
    const isFound = (word: string) =>
      reader.prepare('select rowid from search where search match ?').all(`"${word}"`).length > 0
    const appendedAt = new Map<number, number>()
    const lateness: number[] = []
    for (let head = 1; head <= 200; head++) {
      const more = appendTo(1, head, { records: [recordAt(head + 1, textSaid(`fresh${head}`))] })
      expect(writer.run([encodeAppend(more)])).toMatchObject([{ ok: true }])
      appendedAt.set(head, performance.now())
      writer.rest() // like the worker after each group
      for (const [one, atMs] of appendedAt)
        if (isFound(`fresh${one}`)) {
          lateness.push(performance.now() - atMs)
          appendedAt.delete(one)
        }
      vi.advanceTimersByTime(15) // never quiet long enough for slices without a pause
    }
    expect(lateness.length).toBeGreaterThan(150)
    expect(Math.max(...lateness, ...[...appendedAt.values()].map((atMs) => performance.now() - atMs))).toBeLessThan(
      1000,
    )
  })

  it('says that some messages were not searched if too many are not indexed yet, and finds them later', () => {
    const writer = createWriter({ path })
    onTestFinished(() => writer.close())
    writer.run([['open'], encodeNew(words(2100))])
    const database = new DatabaseSync(path, { readOnly: true })
    onTestFinished(() => database.close())
    const search = createSearchReader(database)
    const old = { text: '"word 5"', limit: 10 }
    expect(search(old)).toEqual({ hits: [], next: null, isIndexing: true })
    expect(search({ text: '"word 2099"', limit: 10 })).toMatchObject({ hits: [{ message: 2100 }], isIndexing: true })
    // The newest thousand matches are all a search returns, so nothing is missing.
    expect(search({ text: 'word', limit: 10 })).not.toHaveProperty('isIndexing')
    catchUpIndex(path)
    expect(search(old)).toEqual({ hits: [expect.objectContaining({ message: 6 })], next: null })
  })

  it('catches up on appends of a killed process, for the next reader or writer', async () => {
    const killed = () => {
      const writer = createWriter({ path })
      writer.run([['open'], encodeNew(words(3))]) // and then stops
      writer.close()
    }
    killed()
    const source = openReadOnlySqlite(path)
    if (!source.ok || source.value === null) throw new Error('it opens')
    expect(await messagesOf(source.value, 'word')).toEqual([1, 2, 3])
    await source.value.close()

    rmSync(path)
    killed()
    const held = await open()
    await vi.waitFor(async () => expect(await messagesOf(held, 'word')).toEqual([1, 2, 3]), { timeout: 10_000 })
  })

  it('indexes the latest messages even without time left', () => {
    const writer = createWriter({ path })
    onTestFinished(() => writer.close())
    const [, , followed] = writer.run([['open'], encodeNew(words(30)), ['extendIndex', -1]])
    expect(followed).toEqual({ ok: true, value: true })
  })

  it('is extended in slices, with appends in between', () => {
    const writer = createWriter({ path })
    const long = newSession(1, {
      records: Array.from({ length: 300 }, (_, index) =>
        recordAt(index + 1, textSaid('many different words '.repeat(200))),
      ),
    })
    writer.run([['open'], encodeNew(long)])
    const reader = new DatabaseSync(path, { readOnly: true })
    const indexed = () => Number(reader.prepare('select count(*) as rows from search_docsize').get()?.['rows'])
    const slices = new Set<number>()
    while (indexed() < 300) {
      writer.rest()
      if (indexed() > 0) slices.add(indexed())
    }
    reader.close()
    writer.close()
    expect(slices.size).toBeGreaterThan(1)
  })

  it('can be rebuilt', async () => {
    await mustCreate(await open(), words(3))
    expect(await messagesOf(await current(), 'word')).toEqual([1, 2, 3])
    tamper("insert into search (rowid, text, parts) values (999, 'word', '')")
    expect(await (await current()).rebuildSearch()).toMatchObject({ ok: true })
    expect(await messagesOf(await current(), 'word')).toEqual([1, 2, 3])
    tamper('select 1')
    const database = new DatabaseSync(path, { readOnly: true })
    expect(database.prepare("select rowid from search where search match 'word'").all()).toHaveLength(3)
    database.close()
  })

  const damages: readonly [string, string][] = [
    ['is missing', 'drop table search'],
    ['has lost its data', 'delete from search_data'],
    ['has lost a shadow table', 'drop table search_docsize'],
    ['has lost its settings', 'drop table search_config'],
    ['is garbled', "update search_data set block = x'00ff00ff' where id > 1"],
  ]

  it.each(damages)('does not affect any session if it %s, and is rebuilt', async (_, damage) => {
    const first = await open()
    await mustCreate(first, words(3), newSession(2, { records: [recordAt(1, textSaid('word of another'))] }))
    await messagesOf(first, 'word')
    await first.close()
    tamper(damage)

    const again = await open()
    await mustAppend(again, appendTo(1, 3, { records: [recordAt(4, textSaid('word 4'))] }))
    await again.release(sessionId(2), 'node-a', 1)
    expect(codeOf(await again.purge(sessionId(2)))).toBe('ok')
    expect(await again.rebuildSearch()).toMatchObject({ ok: true })
    expect(await messagesOf(again, 'word')).toEqual([1, 2, 3, 4])
  })

  it.each([
    ['was changed', "replace(body, 'word 1', 'word 7')"],
    ['is not an event', `'{"type":"user.said"}'`],
    ['is not JSON', 'substr(body, 1, 20)'],
  ])('hides a message whose record %s, fills the page with others and can be rebuilt', async (_, damage) => {
    const held = await open()
    await mustCreate(held, words(3))
    expect(await messagesOf(held, 'word')).toEqual([1, 2, 3])
    tamper(`update record set body = ${damage} where seq = 2`)
    expect(await messagesOf(held, 'word')).toEqual([1, 3])
    const first = await held.search({ text: 'word', limit: 1 })
    const next = first.ok ? (first.value.next ?? undefined) : undefined
    const second = await held.search({ text: 'word', limit: 1, ...(next !== undefined && { cursor: next }) })
    expect(second).toMatchObject({ ok: true, value: { hits: [{ message: 1 }], next: null } })
    expect(await held.rebuildSearch()).toMatchObject({ ok: true })
    expect(await messagesOf(held, 'word')).toEqual([1, 3])
  })

  it('finds messages of a session with a damaged row, without the title', async () => {
    const held = await open()
    await mustCreate(held, words(1))
    await messagesOf(held, 'word')
    tamper("update session set meta = '{garbled'")
    expect(await held.search({ text: 'word', limit: 5 })).toMatchObject({
      value: { hits: [{ message: 1, title: '' }] },
    })
  })

  it('is rebuilt by a search if it is missing', async () => {
    const first = await open()
    await mustCreate(first, words(2))
    await messagesOf(first, 'word')
    tamper('drop table search')
    expect(await messagesOf(first, 'word')).toEqual([1, 2])
  })

  it('keeps no words of a removed record whose position is reused', async () => {
    const held = await open()
    await mustCreate(held, newSession(1), newSession(2, { records: [recordAt(1, textSaid('secret'))] }))
    expect(await messagesOf(held, 'secret')).toEqual([1])
    await held.release(sessionId(2), 'node-a', 1)
    await held.purge(sessionId(2))
    await mustCreate(held, newSession(3, { records: [recordAt(1, textSaid('harmless'))], entry: entryOf(3) }))
    expect([await messagesOf(held, 'secret'), await messagesOf(held, 'harmless')]).toEqual([[], [1]])
  })
})

async function current(): Promise<SqliteStore> {
  if (store === null) throw new Error('it is open')
  return store
}
