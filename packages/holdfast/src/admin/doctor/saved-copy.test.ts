import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { describeSavedCopies, findSavedCopies } from '../../store/open/saved-copies.ts'
import { parseDiskUrl } from '../../store/open/store-location.ts'
import { check } from './check-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-saved-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const open = (store: string) =>
  openHoldfast({ store, environment: { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0' }, sandbox: 'off' })

/** Prompts a session, a new one by default, and returns its id. */
async function prompt(store: string, text: string, known?: string): Promise<string> {
  const holdfast = await open(store)
  const session = known ? await holdfast.getSession(known) : await holdfast.startSession({ model: 'demo/agent' })
  await session.prompt(text).text()
  const { id } = session
  await holdfast.close()
  return id
}

async function transcript(store: string, id: string): Promise<string> {
  const holdfast = await open(store)
  const snapshot = await (await holdfast.getSession(id)).snapshot()
  const text = JSON.stringify(snapshot)
  await holdfast.close()
  return text
}

const doctor = async (store: string, repair = false) => {
  const home = { storePath: join(base, 'home', 'holdfast.db'), blobsDir: join(base, 'home', 'blobs') }
  const location = orThrow(parseDiskUrl(store, home))
  const report = orThrow(await check(location, { repair }))
  return { location, report, found: report.findings.filter(({ code }) => code === 'saved_copy') }
}

describe('a copy that was saved when an open SQLite store lost its file', () => {
  it('is named, and its sessions and records are put back', async () => {
    const [path, store] = [join(base, 's.db'), `sqlite:${join(base, 's.db')}`]
    const first = await prompt(store, 'say one')
    copyFileSync(path, join(base, 'early.db'))
    await prompt(store, 'say two', first)
    const second = await prompt(store, 'say three')
    copyFileSync(path, `${path}.recovered-1`)
    copyFileSync(join(base, 'early.db'), path)
    const third = await prompt(store, 'say four')

    const before = await doctor(store)
    expect(before.report.isIntact).toBe(false)
    expect(before.found).toMatchObject([
      { severity: 'error', canRepair: true, what: expect.stringContaining('of sessions: 2') },
    ])
    expect(describeSavedCopies(before.location, await findSavedCopies(before.location))).toContain(
      `${path}.recovered-1. holdfast doctor says what is only there. Stop Holdfast and run holdfast doctor --repair --store ${store} to`,
    )

    expect((await doctor(store, true)).report).toMatchObject({ isIntact: true })
    expect(existsSync(`${path}.recovered-1`)).toBe(false)
    expect(readdirSync(`${path}.quarantine`).some((name) => name.startsWith('s.db.recovered-1'))).toBe(true)
    for (const [id, said] of [
      [first, 'say two'],
      [second, 'say three'],
      [third, 'say four'],
    ] as const)
      expect(await transcript(store, id)).toContain(said)
    await prompt(store, 'say five', first)
    expect((await doctor(store)).report.isIntact).toBe(true)
  })

  it('is not blamed if it is the store that cannot be read', async () => {
    const [path, store] = [join(base, 's.db'), `sqlite:${join(base, 's.db')}`]
    await prompt(store, 'say one')
    copyFileSync(path, `${path}.recovered-1`)
    const pages = readFileSync(path)
    writeFileSync(path, pages.fill(0xff, 4096)) // all but the first page
    const { found } = await doctor(store)
    expect(found).toMatchObject([{ what: expect.stringContaining(`The store at ${path} cannot be used`) }])

    copyFileSync(`${path}.recovered-1`, path)
    writeFileSync(`${path}.recovered-1`, pages)
    const [blamed] = (await doctor(store)).found
    expect(blamed?.what).toContain(`The store at ${path}.recovered-1 cannot be used`)
  })

  it('is left alone, and reported, if its session went on without it', async () => {
    const [path, store] = [join(base, 's.db'), `sqlite:${join(base, 's.db')}`]
    const id = await prompt(store, 'say one')
    copyFileSync(path, join(base, 'early.db'))
    await prompt(store, 'say two and much more', id)
    await prompt(store, 'say three', id)
    copyFileSync(path, `${path}.recovered-1`)
    copyFileSync(join(base, 'early.db'), path)
    await prompt(store, 'say other', id)
    const { report, found } = await doctor(store, true)
    expect(report.isIntact).toBe(false)
    expect(found).toMatchObject([{ canRepair: false, what: expect.stringContaining(id) }])
    expect(existsSync(`${path}.recovered-1`)).toBe(true)
    expect(await transcript(store, id)).toContain('say other')
  })
})

describe('an open SQLite store that loses its file, and gets no other store in its place', () => {
  const losses: readonly (readonly [string, (path: string) => void])[] = [
    ['was removed', (path) => rmSync(path)],
    ['was removed with its log', (path) => ['', '-wal', '-shm'].map((end) => rmSync(`${path}${end}`, { force: true }))],
    ['is empty', (path) => truncateSync(path)],
    [
      'was replaced with the file of another program',
      (path) => {
        rmSync(path)
        writeFileSync(path, 'something else')
      },
    ],
  ]

  it.each(losses)('is put back by the command that its faults name, if the file %s', async (_, lose) => {
    const [path, store] = [join(base, 's.db'), `sqlite:${join(base, 's.db')}`]
    const id = await prompt(store, 'say one')
    const holdfast = await open(store)
    const session = await holdfast.getSession(id)
    await session.prompt('say two').text()
    lose(path)
    const command = `un holdfast doctor --repair --store ${store} to put them back`
    const lost = { code: 'storage_error', message: expect.stringContaining(command) }
    // A truncated file is seen when the files are looked at again, which is at most every 10 ms.
    const renameUntilRefused = async () => {
      for (;;) await session.rename('lost')
    }
    await expect(renameUntilRefused()).rejects.toMatchObject(lost)
    await expect(doctor(store, true)).rejects.toMatchObject({ code: 'session_locked' })
    await expect(holdfast.close()).rejects.toMatchObject(lost)

    await expect(open(store)).rejects.toMatchObject(lost)
    const before = await doctor(store)
    expect(before.report).toMatchObject({ isIntact: false, sessions: 1 })
    expect(before.found).toMatchObject([{ canRepair: true, what: expect.stringContaining('of sessions: 1') }])
    expect((await doctor(store, true)).report).toMatchObject({ isIntact: true, sessions: 1, accepted: [] })
    expect(await findSavedCopies(before.location)).toEqual([])
    expect(await transcript(store, id)).toContain('say two')
    await prompt(store, 'say three', id)
    expect((await doctor(store)).report.isIntact).toBe(true)
  })

  it('is not replaced with an earlier copy, if more can be read of its damaged file', async () => {
    const [path, store] = [join(base, 's.db'), `sqlite:${join(base, 's.db')}`]
    const id = await prompt(store, 'say one')
    copyFileSync(path, `${path}.recovered-1`)
    await prompt(store, 'say two', id)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0, 0, 100))
    expect((await doctor(store, true)).report).toMatchObject({ isIntact: true, sessions: 1 })
    expect(await transcript(store, id)).toContain('say two')
  })
})

describe.each(['sqlite', 'jsonl'] as const)('a saved copy that has nothing of its own (%s)', (kind) => {
  it('is moved to the quarantine by a repair, so that nobody is warned of it again', async () => {
    const store = kind === 'sqlite' ? `sqlite:${join(base, 's.db')}` : `jsonl:${join(base, 'logs')}`
    const id = await prompt(store, 'say one')
    const path = kind === 'sqlite' ? join(base, 's.db') : join(base, 'logs', `${id}.jsonl`)
    copyFileSync(path, `${path}.recovered-1`)
    const before = await doctor(store)
    expect(before.report).toMatchObject({
      isIntact: true,
      findings: [{ code: 'kept_aside', severity: 'info', subject: `${path}.recovered-1`, canRepair: true }],
    })
    expect((await doctor(store, true)).report).toMatchObject({ isIntact: true, findings: [{ repaired: true }] })
    expect(await findSavedCopies(before.location)).toEqual([])
    const quarantine = kind === 'sqlite' ? `${path}.quarantine` : join(base, 'logs', 'quarantine')
    expect(readdirSync(quarantine)).toEqual([expect.stringContaining('.recovered-1')])
    expect((await doctor(store)).report.findings).toEqual([])
    expect(await transcript(store, id)).toContain('say one')
  })
})

describe.each(['sqlite', 'jsonl'] as const)('a session that was purged after a copy was saved (%s)', (kind) => {
  const purge = async (store: string, id: string) => {
    const holdfast = await open(store)
    await holdfast.purge(id)
    await holdfast.close()
  }
  const save = (store: string, id: string) => {
    const path = kind === 'sqlite' ? store.slice('sqlite:'.length) : join(base, 'logs', `${id}.jsonl`)
    copyFileSync(path, `${path}.recovered-1`)
  }

  it('is not brought back by a repair, and nothing of it stays in the copy', async () => {
    const store = kind === 'sqlite' ? `sqlite:${join(base, 's.db')}` : `jsonl:${join(base, 'logs')}`
    const id = await prompt(store, 'say a secret word')
    const other = await prompt(store, 'say other')
    save(store, id)
    await purge(store, id)
    const { report } = await doctor(store, true)
    expect(report.isIntact).toBe(true)
    const holdfast = await open(store)
    expect((await holdfast.list()).sessions.map((one) => one.id)).toEqual([other])
    await expect(holdfast.getSession(id)).rejects.toMatchObject({ code: 'session_not_found' })
    await holdfast.close()
  })

  it('keeps the records that its forks share, and only these', async () => {
    const store = kind === 'sqlite' ? `sqlite:${join(base, 's.db')}` : `jsonl:${join(base, 'logs')}`
    const id = await prompt(store, 'say one')
    const holdfast = await open(store)
    const { session: fork } = await (await holdfast.getSession(id)).fork()
    await holdfast.close()
    await prompt(store, 'say two', id)
    save(store, id)
    await purge(store, id)
    expect((await doctor(store, true)).report.isIntact).toBe(true)
    const after = await open(store)
    expect((await after.list()).sessions.map((one) => one.id)).toEqual([fork])
    await expect(after.getSession(id)).rejects.toMatchObject({ code: 'session_not_found' })
    await after.close()
    expect(await transcript(store, fork)).toContain('say one')
  })
})

describe('a log that was saved when it lost its name', () => {
  it('is named, and put back', async () => {
    const directory = join(base, 'logs')
    const store = `jsonl:${directory}`
    const id = await prompt(store, 'say one')
    const log = join(directory, `${id}.jsonl`)
    copyFileSync(log, `${log}.recovered-1`)
    rmSync(log)
    await prompt(store, 'say two')

    const before = await doctor(store)
    expect(before.report.isIntact).toBe(false)
    expect(before.found).toMatchObject([{ severity: 'error', canRepair: true, subject: `${log}.recovered-1` }])
    expect(await findSavedCopies(before.location)).toEqual([`${log}.recovered-1`])

    const after = await doctor(store, true)
    expect(after.report).toMatchObject({ isIntact: true, accepted: [] })
    expect(await findSavedCopies(after.location)).toEqual([])
    expect(await transcript(store, id)).toContain('say one')
  })
})
