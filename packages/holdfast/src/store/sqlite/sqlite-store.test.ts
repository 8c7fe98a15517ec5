import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import {
  appendTo,
  codeOf,
  describeStore,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  sessionId,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decodeRecord } from '../stored-record.ts'
import { openReader, type Reader } from './read/reader.ts'
import { unpackPage } from './rows/packed-page.ts'
import { openSqliteStore } from './sqlite-store.ts'

let home = ''
let path = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-store-'))
  path = join(home, 'data', 'holdfast.db')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function open(options: Partial<Parameters<typeof openSqliteStore>[0]> = {}): Promise<Store> {
  const opened = await openSqliteStore({ path, ...options })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

describeStore('sqlite', () => open())

describe('sqlite store', () => {
  it('has all data after it is closed and opened again', async () => {
    const first = await open()
    await mustCreate(first, newSession(1))
    const trust = { tool: 'shell', scope: 'workspace' } as const
    await mustAppend(first, appendTo(1, 1, { trust: [{ type: 'granted', trust }] }))
    const [before, entry] = [await readAll(first, 1), await first.entry(sessionId(1))]
    await first.close()
    expect(readdirSync(join(home, 'data'))).toEqual(['holdfast.db'])

    const second = await open()
    expect(await readAll(second, 1)).toEqual(before)
    expect(await second.entry(sessionId(1))).toEqual(entry)
    expect(await second.workspaceTrust('/work')).toEqual([trust])
    await second.close()
  })

  it('creates its file only once the program is checked, and not at all if the check fails', async () => {
    const failure = new Error('the configuration is wrong')
    await expect(openSqliteStore({ path }, Promise.reject(failure))).rejects.toBe(failure)
    const { promise: checked, resolve } = Promise.withResolvers<void>()
    const opening = openSqliteStore({ path }, checked)
    expect(existsSync(path)).toBe(false)
    resolve()
    await orThrow(await opening).close()
    expect(existsSync(path)).toBe(true)
  })

  it('opens, writes and reads with one thread, and starts another for a search', async () => {
    const threads: unknown[] = []
    const note = (thread: unknown) => threads.push(thread)
    process.on('worker', note)
    const store = await open()
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1))
    expect(await readAll(store, 1)).toHaveLength(2)
    expect(threads).toHaveLength(1)
    expect(codeOf(await store.search({ text: 'hello', limit: 1 }))).toBe('ok')
    expect(threads).toHaveLength(2)
    await store.close()
    process.off('worker', note)
  })

  it('answers questions of its first moments in the order of asking, between the changes', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    const head = async () => (await store.entry(sessionId(1)))?.head
    const asked = [head(), store.append(appendTo(1, 1)).then(codeOf), head(), store.append(appendTo(1, 2)).then(codeOf)]
    expect(await Promise.all([...asked, head()])).toEqual([1, 'ok', 2, 'ok', 3])
    await store.close()
  })

  it('answers pending requests before it closes, and refuses later ones', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    const last = store.append(appendTo(1, 1))
    await store.close()
    expect(codeOf(await last)).toBe('ok')
    expect(codeOf(await store.append(appendTo(1, 2)))).toBe('storage_error')
    await expect(readAll(store, 1)).rejects.toMatchObject({ code: 'storage_error' })
    await store.close()
  })

  it.each(['asked before', 'not asked before'])(
    'reads on without its log (%s), and reports that with the next change',
    async (when) => {
      const store = await open()
      await mustCreate(store, newSession(1))
      await mustAppend(store, appendTo(1, 1))
      if (when === 'asked before') expect(codeOf(await store.search({ text: 'hello', limit: 1 }))).toBe('ok')
      rmSync(`${path}-wal`)
      expect(await readAll(store, 1)).toHaveLength(2)
      expect(await store.entry(sessionId(1))).toMatchObject({ head: 2 })
      expect(await store.append(appendTo(1, 2))).toMatchObject({
        fault: { details: { reason: 'log_removed', saved: path } },
      })
      await mustAppend(store, appendTo(1, 2))
      expect(await readAll(store, 1)).toHaveLength(3)
      await store.close()
    },
  )

  it('creates private files, whatever the umask', async () => {
    const umask = process.umask(0)
    try {
      const store = await open()
      await mustCreate(store, newSession(1))
      const modes = readdirSync(join(home, 'data')).map((name) => statSync(join(home, 'data', name)).mode & 0o777)
      expect(modes).toEqual([0o600, 0o600, 0o600])
      expect(statSync(join(home, 'data')).mode & 0o777).toBe(0o700)
      await store.close()
    } finally {
      process.umask(umask)
    }
  })

  it('makes existing files private', async () => {
    await (await open()).close()
    chmodSync(path, 0o644)
    chmodSync(join(home, 'data'), 0o755)
    await (await open()).close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'data')).mode & 0o777).toBe(0o700)
  })

  it('reports a full disk and continues once there is space, without a restart', async () => {
    const store = await open({ pagesMax: 60 })
    await mustCreate(store, newSession(1), newSession(2, { entry: entryOf(2, { spoken: false }) }))
    const page = randomBytes(15_000).toString('base64') // does not compress
    const unspoken = entryOf(2, { spoken: false })
    const fill = (after: number) => appendTo(2, after, { records: textsAfter(after, page), entry: unspoken })
    let head = 1
    let refused = await store.append(fill(head))
    while (refused.ok) {
      head += 1
      refused = await store.append(fill(head))
    }
    expect(refused).toMatchObject({ fault: { code: 'storage_error', details: { reason: 'disk_full', path } } })
    expect((await store.entry(sessionId(2)))?.head).toBe(head)
    expect(codeOf(await store.append(appendTo(1, 1, { records: textsAfter(1, page) })))).toBe('storage_error')
    expect(await store.probe()).toMatchObject({
      fault: { code: 'storage_error', details: { reason: 'disk_full', path } },
    })

    expect(await store.removeUnspoken(['node-a'])).toBe(1)
    expect([codeOf(await store.probe()), codeOf(await store.probe())]).toEqual(['ok', 'ok'])
    await mustAppend(store, appendTo(1, 1, { records: textsAfter(1, page) }))
    expect((await readAll(store, 1)).length).toBe(2)
    await store.close()
  })

  const losses: readonly (readonly [string, () => void])[] = [
    ['was removed', () => rmSync(path)],
    ['was removed with its log', () => ['', '-wal', '-shm'].map((end) => rmSync(`${path}${end}`))],
    ['was moved with its folder', () => renameSync(join(home, 'data'), join(home, 'elsewhere'))],
    [
      'was replaced with another store',
      () => {
        copyFileSync(join(home, 'other.db'), join(home, 'new.db'))
        renameSync(join(home, 'new.db'), path)
      },
    ],
  ]

  describe.each(losses)('whose file %s', (_, lose) => {
    const lost = {
      code: 'storage_error',
      details: { reason: 'replaced', saved: expect.stringContaining('holdfast.db.recovered-1') },
      message: expect.stringMatching(/was moved, removed, replaced .* saved to .*doctor --repair/),
    }
    beforeEach(async () => {
      const other = await open({ path: join(home, 'other.db') })
      await mustCreate(other, newSession(2))
      await other.close()
    })

    it.each([
      ['before', true],
      ['after', false],
    ])('says so with every read, if its reader started %s that', async (_when, isBefore) => {
      const store = await open()
      await mustCreate(store, newSession(1))
      // Only the reader's thread answers this question.
      if (isBefore) await store.caps()
      lose()
      for (let times = 0; times < 3; times += 1) {
        await expect(store.tokens()).rejects.toMatchObject(lost)
        await expect(store.caps()).rejects.toMatchObject(lost)
        await expect(store.list({ limit: 1 })).rejects.toMatchObject(lost)
        expect(await store.search({ text: 'word', limit: 1 })).toMatchObject({ ok: false, fault: lost })
      }
      expect(await store.append(appendTo(1, 1))).toMatchObject({ ok: false, fault: lost })
      await store.close()
    })

    it('says so with a read, if a write has found it', async () => {
      const store = await open()
      await mustCreate(store, newSession(1))
      lose()
      expect(await store.append(appendTo(1, 1))).toMatchObject({ ok: false, fault: lost })
      await expect(store.caps()).rejects.toMatchObject(lost)
      await store.close()
    })
  })

  it('refuses the next append if its file was removed', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    rmSync(path)
    const result = await store.append(appendTo(1, 1))
    expect(result).toMatchObject({ fault: { code: 'storage_error', details: { reason: 'replaced' } } })
    await store.close()
  })

  it('can be read on this thread while a writer has it open', async () => {
    const store = await open()
    await mustCreate(store, newSession(1), newSession(2))
    const reader = openReader(path)
    const readWith = ({ ask }: Reader) =>
      unpackPage(orThrow(ask('read', sessionId(1), { after: 0, limit: 9 }))).map(decodeRecord)
    if (!reader.ok || reader.value === null) throw new Error('the store is there')
    expect(reader.value.ask('list', { limit: 1 })).toMatchObject({
      ok: true,
      value: { sessions: [{ owner: 'node-a' }] },
    })
    expect(readWith(reader.value)).toEqual(await readAll(store, 1))
    await mustAppend(store, appendTo(1, 1))
    expect(readWith(reader.value)).toEqual(await readAll(store, 1))
    reader.value.close()
    await store.close()
  })

  it('is not created by a reader', () => {
    mkdirSync(join(home, 'data'))
    expect(openReader(path)).toEqual({ ok: true, value: null })
    expect(readdirSync(join(home, 'data'))).toEqual([])
  })
})
