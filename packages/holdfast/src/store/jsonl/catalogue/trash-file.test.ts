import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Problem, Store } from '@holdfast/core/ports'
import { codeOf, mustCreate, newSession, readAll, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDirectory } from '../admin/jsonl-admin.ts'
import { openJsonlStore } from '../jsonl-store.ts'

let home = ''
let directory = ''
const problems: Problem[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-trash-'))
  directory = join(home, 'logs')
  problems.length = 0
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function open(at = directory): Promise<Store> {
  const onProblem = (problem: Problem) => void problems.push(problem)
  const opened = await openJsonlStore({ directory: at, now: () => 0, entryOf: async () => null, onProblem })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

/** Copies the directory as a crash would leave it now. */
function crashed(name: string): string {
  const copy = join(home, name)
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') })
  return copy
}

async function holding(...numbers: readonly number[]): Promise<Store> {
  const store = await open()
  for (const number of numbers) {
    await mustCreate(store, newSession(number))
    await store.release(sessionId(number), 'node-a', 1)
  }
  return store
}

async function stateOf(store: Store) {
  const [listed, trashed] = await Promise.all([store.list({ limit: 100 }), store.list({ limit: 100, trashed: true })])
  return {
    listed: listed.sessions.map(({ meta }) => meta.id),
    trashed: trashed.sessions.map(({ meta, trashedAt }) => [meta.id, trashedAt]),
  }
}

const file = () => join(directory, 'trash.json')

describe('trash file', () => {
  it('survives a crash and the deletion of the catalogue', async () => {
    const store = await holding(1, 2, 3)
    await store.trash(sessionId(1), 70)
    await store.trash(sessionId(3), 50)
    await store.trash(sessionId(2), 60)
    await store.restore(sessionId(2))
    const expected = { listed: [sessionId(2)], trashed: [[sessionId(1), 70], [sessionId(3), 50]] } // biome-ignore format: pairs
    const copy = crashed('copy')
    rmSync(join(copy, 'catalogue.jsonl'), { force: true })
    const again = await open(copy)
    expect(await stateOf(again)).toEqual(expected)
    expect(codeOf(await again.claim(sessionId(1), 'node-b', null))).toBe('session_trashed')
    await again.close()
    await store.close()
    expect(statSync(file()).mode & 0o777).toBe(0o600)
  })

  it('saves many concurrent changes', async () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index + 1)
    const store = await holding(...numbers)
    const answers = await Promise.all(numbers.map((number) => store.trash(sessionId(number), number)))
    expect(answers.every(({ ok }) => ok)).toBe(true)
    const again = await open(crashed('copy'))
    expect((await stateOf(again)).trashed).toHaveLength(30)
    await again.close()
    await store.close()
  })

  it('is moved aside when damaged, and its sessions are listed again', async () => {
    const store = await holding(1, 2)
    await store.trash(sessionId(1), 70)
    await store.close()
    const damaged = readFileSync(file(), 'utf8').replace('70', '71')
    writeFileSync(file(), damaged)
    const again = await open()
    expect(await stateOf(again)).toEqual({ listed: [2, 1].map(sessionId), trashed: [] })
    expect(await readAll(again, 1)).toHaveLength(1)
    expect(readFileSync(`${file()}.damaged-1`, 'utf8')).toBe(damaged)
    const found = (await checkDirectory(directory, true)).filter(({ subject: place }) => place.includes('damaged'))
    expect(found).toMatchObject([{ code: 'kept_aside', what: expect.stringContaining('a damaged trash list') }])
    expect(problems.map(({ where }) => where)).toEqual(['reading the trash'])
    await again.trash(sessionId(2), 80)
    await again.close()
    const third = await open()
    expect(await stateOf(third)).toEqual({ listed: [sessionId(1)], trashed: [[sessionId(2), 80]] })
    await third.close()
  })

  it.each([0, 1, 20])('is damaged when only %i bytes are left', async (bytes) => {
    const store = await holding(1)
    await store.trash(sessionId(1), 70)
    await store.close()
    writeFileSync(file(), readFileSync(file()).subarray(0, bytes))
    const again = await open()
    expect((await stateOf(again)).listed).toEqual([sessionId(1)])
    expect(readdirSync(directory)).toContain('trash.json.damaged-1')
    await again.close()
  })

  it('forgets a purged session, also when it is created again after a crash', async () => {
    const store = await holding(1, 2)
    await store.trash(sessionId(1), 70)
    await store.trash(sessionId(2), 80)
    await store.purge(sessionId(1))
    const afterPurge = crashed('one')
    await store.close()

    directory = afterPurge
    const second = await open()
    expect(await stateOf(second)).toEqual({ listed: [], trashed: [[sessionId(2), 80]] })
    await mustCreate(second, newSession(1))
    const afterCreate = crashed('two')
    await second.close()

    const third = await open(afterCreate)
    expect(await stateOf(third)).toEqual({ listed: [sessionId(1)], trashed: [[sessionId(2), 80]] })
    await third.close()
  })

  it('rejects a change that cannot be written and stays unchanged', async () => {
    const store = await holding(1)
    mkdirSync(file())
    expect(await store.trash(sessionId(1), 70)).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(await stateOf(store)).toEqual({ listed: [sessionId(1)], trashed: [] })
    expect(readdirSync(directory).filter((name) => name.includes('.new-'))).toEqual([])
    rmSync(file(), { recursive: true })
    expect(codeOf(await store.trash(sessionId(1), 70))).toBe('ok')
    expect((await stateOf(store)).trashed).toEqual([[sessionId(1), 70]])
    await store.close()
  })
})
