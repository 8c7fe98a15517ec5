import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Draft, Store } from '@holdfast/core/ports'
import { ClientId, CommandId, type Result, StepId } from '@holdfast/protocol'
import {
  appendTo,
  codeOf,
  describeStore,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  recordAt,
  seqsOf,
  sessionId,
  textSaid,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openJsonlStore } from './jsonl-store.ts'
import type { JsonlStoreOptions } from './open-files.ts'

let home = ''
let directory = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-jsonl-'))
  directory = join(home, 'logs')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(home, { recursive: true, force: true })
})

const attempt = (more: Partial<JsonlStoreOptions> = {}): Promise<Result<Store>> =>
  openJsonlStore({ directory, now: () => 0, entryOf: async () => null, onProblem: () => undefined, ...more })

async function open(more: Partial<JsonlStoreOptions> = {}): Promise<Store> {
  const opened = await attempt(more)
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

const logOf = (number: number) => join(directory, `${sessionId(number)}.jsonl`)
const idsOf = async (store: Store) => (await store.list({ limit: 5000 })).sessions.map(({ meta }) => meta.id)

// Each part of the suite opens its own store.
let count = 0
describeStore('jsonl', () => {
  count += 1
  return open({ directory: join(home, String(count)) })
})

describeStore('jsonl that lets go of every log at once', () => {
  count += 1
  return open({ directory: join(home, String(count)), openMax: 0 })
})

describe('JSONL store', () => {
  it('writes one readable file per session', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    const full = recordAt(2, textSaid('hello\nyou'), { by: ClientId.parse('tui'), commandId: CommandId.parse('cmd-1') })
    await mustAppend(store, appendTo(1, 1, { records: [full, ...textsAfter(2, 'bare')] }))
    await store.close()
    const lines = readFileSync(logOf(1), 'utf8').trimEnd().split('\n')
    const [header, first, second, third] = lines.map((line) => JSON.parse(line))
    expect(header).toMatchObject({ format: 'holdfast-log', version: 1, session: sessionId(1), parent: null, base: 0 })
    expect(first).toMatchObject({ seq: 1, type: 'text.said', event: { text: 'first' } })
    expect(second).toStrictEqual({
      seq: 2,
      at: full.record.at,
      type: 'text.said',
      v: 1,
      client: 'tui',
      commandId: 'cmd-1',
      more: 1,
      event: full.record.event,
      crc: expect.stringMatching(/^[0-9a-f]{8}$/),
    })
    expect(third).toMatchObject({ seq: 3, event: { text: 'bare' } })
  })

  it('has everything after a reopen', async () => {
    const first = await open()
    await mustCreate(first, newSession(1))
    await mustCreate(first, newSession(2, { parent: sessionId(1), base: 1 }))
    const trust = { tool: 'shell', scope: 'workspace' } as const
    await mustAppend(first, appendTo(1, 1, { trust: [{ type: 'granted', trust }] }))
    const look = async (store: Store) => [
      ...[await readAll(store, 1), await readAll(store, 2), await store.list({ limit: 9 })],
      ...[await store.entry(sessionId(1)), await store.workspaceTrust('/work')],
    ]
    const before = await look(first)
    await first.close()
    const second = await open()
    expect(await look(second)).toEqual(before)
    expect(await second.workspaceTrust('/work')).toEqual([trust])
    await mustAppend(second, appendTo(1, 2))
    await second.close()
  })

  it('answers calls made before close and rejects calls made after it', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    const last = store.append(appendTo(1, 1))
    await store.close()
    expect(codeOf(await last)).toBe('ok')
    expect(codeOf(await store.append(appendTo(1, 2)))).toBe('storage_error')
    await expect(readAll(store, 1)).rejects.toMatchObject({ code: 'storage_error' })
    await store.close()
  })

  it('makes its files private whatever the umask, also existing ones', async () => {
    const umask = process.umask(0)
    try {
      const store = await open()
      await mustCreate(store, newSession(1))
      await store.saveDraft(sessionId(1), 1, { step: StepId.parse(4), parts: [] })
      await store.saveSnapshot(sessionId(1), { seq: 1, fold: 1, body: '{}' })
      const modes = () =>
        readdirSync(directory, { recursive: true, withFileTypes: true }).map((one) => [
          one.isDirectory(),
          statSync(join(one.parentPath, one.name)).mode & 0o777,
        ])
      expect(modes().length).toBeGreaterThan(7)
      for (const [isDirectory, mode] of modes()) expect(mode).toBe(isDirectory ? 0o700 : 0o600)
      await store.close()
      expect(statSync(directory).mode & 0o777).toBe(0o700)
      chmodSync(logOf(1), 0o644)
      await (await open()).close()
      expect(statSync(logOf(1)).mode & 0o777).toBe(0o600)
    } finally {
      process.umask(umask)
    }
  })

  it('returns the same sessions when all files but the logs are deleted', async () => {
    const first = await open()
    const spoken = (number: number) => newSession(number, { entry: entryOf(number, { activeAt: 100 - number }) })
    await mustCreate(first, spoken(1), spoken(2), spoken(3))
    await mustCreate(first, newSession(4, { parent: sessionId(3), base: 1, entry: entryOf(4, { activeAt: 7 }) }))
    const before = [await idsOf(first), await readAll(first, 4)]
    await first.close()
    for (const name of readdirSync(directory)) {
      if (!name.startsWith('ses_')) rmSync(join(directory, name), { recursive: true })
    }
    const second = await open()
    expect([await idsOf(second), await readAll(second, 4)]).toEqual(before)
    expect(codeOf(await second.create(newSession(1)))).toBe('internal')
    await second.close()
  })

  it('rebuilds rows that are missing in the catalogue or older than the log', async () => {
    const first = await open()
    await mustCreate(first, newSession(1), newSession(2), newSession(3))
    await first.close()
    const stale = readFileSync(join(directory, 'catalogue.jsonl'))
    const second = await open()
    await mustAppend(second, appendTo(2, 1, { entry: entryOf(2, { meta: { title: 'New' } }) }))
    await second.close()
    writeFileSync(join(directory, 'catalogue.jsonl'), stale)

    const folded: string[] = []
    const third = await open({
      entryOf: async (source, session) => {
        folded.push(session, ...(await source.read(session, { after: 0, limit: 9 })).map(({ seq }) => String(seq)))
        return entryOf(2, { meta: { title: 'Folded' } })
      },
    })
    expect(folded).toEqual([sessionId(2), '1', '2'])
    expect(await third.entry(sessionId(2))).toMatchObject({ head: 2, entry: { meta: { title: 'Folded' } } })
    await third.close()
  })

  it('lists a thousand sessions without reading their logs', async () => {
    const first = await open()
    const numbers = Array.from({ length: 1000 }, (_, index) => index + 1)
    await Promise.all(numbers.map((number) => mustCreate(first, newSession(number))))
    await first.close()
    // Reading a log would show damage: only its length is right.
    for (const number of numbers) writeFileSync(logOf(number), 'x'.repeat(statSync(logOf(number)).size))
    const second = await open()
    expect(await idsOf(second)).toEqual(numbers.toReversed().map(sessionId))
    expect(await readAll(second, 5)).toEqual([{ seq: 1, lost: true }])
    await second.close()
  })

  it('ignores a draft that a recorded answer replaced, also after a crash before its removal', async () => {
    const first = await open()
    const draft: Draft = { step: StepId.parse(4), parts: [{ type: 'text', text: 'Once' }] }
    await mustCreate(first, newSession(1))
    await first.saveDraft(sessionId(1), 1, draft)
    const path = join(directory, 'drafts', `${sessionId(1)}.json`)
    const saved = readFileSync(path)
    await mustAppend(first, appendTo(1, 1, { clearDraft: true }))
    await first.close()
    writeFileSync(path, saved)
    const second = await open()
    expect(await second.loadDraft(sessionId(1))).toBeNull()
    await second.saveDraft(sessionId(1), 1, draft)
    expect(await second.loadDraft(sessionId(1))).toEqual(draft)
    await second.close()
  })

  it.each([
    ['came about when its record is there', true],
    ['did not when it is not', false],
  ])('knows after a crash whether a change of trust happened: it %s', async (_, isThere) => {
    const first = await open()
    await mustCreate(first, newSession(1))
    const before = readFileSync(logOf(1))
    const trust = { tool: 'shell', scope: 'workspace' } as const
    let during = Buffer.alloc(0)
    vi.spyOn(await handlePrototype(), 'datasync').mockImplementationOnce(async () => {
      during = readFileSync(join(directory, 'trust.json'))
    })
    await mustAppend(first, appendTo(1, 1, { trust: [{ type: 'granted', trust }] }))
    await first.close()
    writeFileSync(join(directory, 'trust.json'), during)
    if (!isThere) writeFileSync(logOf(1), before)
    const second = await open()
    expect(await second.workspaceTrust('/work')).toEqual(isThere ? [trust] : [])
    await second.close()
  })
})

/** The prototype of file handles, to make the disk fail. */
async function handlePrototype(): Promise<Awaited<ReturnType<typeof openFile>>> {
  await using file = await openFile(home, 'r')
  return Object.getPrototypeOf(file)
}

const refusedBySystem = (code: string) => Object.assign(new Error(code), { code, errno: -1, syscall: 'fdatasync' })

describe('JSONL store on a failing disk', () => {
  it.each(['write', 'datasync'] as const)(
    'reports a failed %s and accepts the next append without a restart',
    async (method) => {
      const store = await open()
      await mustCreate(store, newSession(1))
      await mustAppend(store, appendTo(1, 1))
      const failing = vi.spyOn(await handlePrototype(), method).mockRejectedValueOnce(refusedBySystem('ENOSPC'))
      const refused = await store.append(appendTo(1, 2, { records: textsAfter(2, 'refused') }))
      expect(refused).toMatchObject({
        fault: { code: 'storage_error', details: { reason: 'disk_full', errno: 'ENOSPC' } },
      })
      expect(failing).toHaveBeenCalled()
      expect((await store.entry(sessionId(1)))?.head).toBe(2)

      await mustAppend(store, appendTo(1, 2, { records: textsAfter(2, 'taken') }))
      const records = await readAll(store, 1)
      expect(records.map((record) => ('event' in record && 'text' in record.event ? record.event.text : null))).toEqual(
        [...['first', 'at 2', 'taken']],
      )
      await store.close()
      const again = await open()
      expect(await readAll(again, 1)).toEqual(records)
      await again.close()
    },
  )

  it.each(['writeFile', 'sync'] as const)('rejects a probe when %s fails and leaves no file', async (method) => {
    const store = await open()
    vi.spyOn(await handlePrototype(), method).mockRejectedValueOnce(refusedBySystem('EROFS'))
    expect(await store.probe()).toMatchObject({
      fault: { code: 'storage_error', details: { reason: 'read_only', errno: 'EROFS' } },
    })
    expect(codeOf(await store.probe())).toBe('ok')
    expect(readdirSync(directory).filter((name) => name.startsWith('probe'))).toEqual([])
    await store.close()
  })

  it('opens, reads and closes while nothing can be written, without loss', async () => {
    const first = await open()
    await mustCreate(first, newSession(1))
    await first.close()
    rmSync(join(directory, 'catalogue.jsonl'))
    const failing = vi.spyOn(await handlePrototype(), 'writeFile').mockRejectedValue(refusedBySystem('ENOSPC'))
    const second = await open()
    expect((await readAll(second, 1)).length).toBe(1)
    await second.close()
    expect(failing).toHaveBeenCalled()
    failing.mockRestore()
    const third = await open()
    expect(await idsOf(third)).toEqual([sessionId(1)])
    await third.close()
  })

  it('leaves no session that it did not acknowledge', async () => {
    const store = await open()
    vi.spyOn(await handlePrototype(), 'sync').mockRejectedValueOnce(refusedBySystem('EIO'))
    expect(codeOf(await store.create(newSession(1)))).toBe('storage_error')
    expect(await store.entry(sessionId(1))).toBeNull()
    await mustCreate(store, newSession(1))
    await store.close()
  })

  it.each([
    ['removed', () => rmSync(logOf(1))],
    ['cut short', () => writeFileSync(logOf(1), readFileSync(logOf(1)).subarray(0, -4))],
    [
      'replaced',
      () => {
        const bytes = readFileSync(logOf(1))
        renameSync(logOf(1), `${logOf(1)}.away`)
        writeFileSync(logOf(1), bytes)
      },
    ],
  ])('rejects the next append after the file was %s', async (_, harm) => {
    const store = await open()
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1))
    harm()
    const result = await store.append(appendTo(1, 2))
    expect(result).toMatchObject({ fault: { code: 'storage_error', details: { reason: 'replaced' } } })
    expect(codeOf(await store.append(appendTo(1, 2)))).toBe('storage_error')
    await store.close()
  })
})

describe('directory that is not a JSONL store', () => {
  it('is rejected and unchanged if it contains other files', async () => {
    mkdirSync(directory)
    writeFileSync(join(directory, 'notes.txt'), 'mine')
    expect(codeOf(await attempt())).toBe('not_a_store')
    expect(readdirSync(directory)).toEqual(['notes.txt'])
  })

  it('is rejected if it is a file', async () => {
    writeFileSync(directory, 'mine')
    expect(await attempt()).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(readFileSync(directory, 'utf8')).toBe('mine')
  })

  it('is rejected unchanged if a newer Holdfast wrote it', async () => {
    mkdirSync(directory)
    writeFileSync(join(directory, 'holdfast.json'), JSON.stringify({ format: 'holdfast-jsonl', version: 2 }))
    expect(codeOf(await attempt())).toBe('store_too_new')
    expect(readdirSync(directory)).toEqual(['holdfast.json'])
  })

  it('is accepted if a crash came before it was marked', async () => {
    mkdirSync(directory)
    for (const name of ['.lock', 'holder.json', 'holdfast.json.new-0a-1']) writeFileSync(join(directory, name), '')
    await (await open()).close()
    expect(readdirSync(directory)).not.toContain('holdfast.json.new-0a-1')
  })

  it('may contain a foreign file named like a log, which is left alone', async () => {
    await (await open()).close()
    const png = Buffer.from('\x89PNG\r\n\x1a\n'.repeat(100), 'latin1')
    writeFileSync(logOf(1), png)
    writeFileSync(logOf(2), '')
    mkdirSync(logOf(3))
    const store = await open()
    expect(await idsOf(store)).toEqual([])
    expect(readFileSync(logOf(1))).toEqual(png)
    expect(statSync(logOf(2)).size).toBe(0)
    expect(seqsOf(await readAll(store, 1))).toEqual([])
    await store.close()
  })
})
