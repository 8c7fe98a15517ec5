import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewSession, Store } from '@holdfast/core/ports'
import { Key, orThrow, type Result } from '@holdfast/protocol'
import { appendTo, newSession } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMemoryStore } from './memory/memory-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-faults-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Makes every request that a store refuses, and returns the faults. */
async function refusals(store: Store): Promise<readonly unknown[]> {
  const [first, second, third] = [newSession(1), newSession(2), newSession(3)]
  const meta = { ...third.entry.meta, handle: first.entry.meta.handle }
  const keyed = <One extends NewSession>(one: One) => ({
    ...one,
    entry: { ...one.entry, meta: { ...one.entry.meta, key: Key.parse('k') } },
  })
  await store.create(keyed(first))
  await store.create(second)
  const fourth = newSession(4)
  await store.create(fourth)
  await store.release(fourth.session, fourth.owner, 1)
  await store.trash(fourth.session, 7)
  const append = appendTo(1, 1)
  const claimed = await store.claim(second.session, 'node_2', second.owner)
  const requests: readonly Promise<Result<unknown>>[] = [
    store.create(first),
    store.create({ ...third, entry: { ...third.entry, meta } }),
    store.create(keyed(third)),
    // The id of one session and the handle of another are taken: every store must report the same one.
    store.create({ ...second, entry: { ...second.entry, meta: { ...second.entry.meta, handle: meta.handle } } }),
    store.create({ ...third, parent: newSession(9).session }),
    store.append({ ...append, epoch: 7 }),
    store.append(appendTo(1, 5)),
    store.append(appendTo(9, 1)),
    store.claim(second.session, 'node_3', null),
    store.claim(newSession(9).session, 'node_3', null),
    store.claim(fourth.session, 'node_3', null),
    store.trash(second.session, 7),
    store.trash(newSession(9).session, 7),
    store.restore(newSession(9).session),
  ]
  expect(claimed.ok).toBe(true)
  const answers = await Promise.all(requests)
  await store.close()
  return answers.map((answer) => (answer.ok ? 'not refused' : answer.fault))
}

it('every store reports the same faults in the same words', async () => {
  const inMemory = await refusals(createMemoryStore())
  const inFile = await refusals(orThrow(await openSqliteStore({ path: join(home, 'holdfast.db') })))
  expect(inFile).toEqual(inMemory)
  expect(inMemory).toMatchObject([
    { code: 'internal' },
    { code: 'handle_taken' },
    { code: 'key_taken' },
    { code: 'internal' },
    { code: 'session_not_found' },
    { code: 'fenced' },
    { code: 'log_moved' },
    { code: 'session_not_found' },
    { code: 'session_locked' },
    { code: 'session_not_found' },
    { code: 'session_trashed' },
    { code: 'session_locked' },
    { code: 'session_not_found' },
    { code: 'session_not_found' },
  ])
})
