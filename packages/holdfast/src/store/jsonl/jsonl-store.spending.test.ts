import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core/ports'
import { noneSpent } from '@holdfast/protocol'
import { aCharge, appendTo, codeOf, mustAppend, mustCreate, newSession, sessionId } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJsonlStore } from './jsonl-store.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-jsonl-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function open(): Promise<Store> {
  const opened = await openJsonlStore({
    directory,
    now: () => 0,
    entryOf: async () => null,
    onProblem: () => undefined,
  })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

const day = '2026-01-02'
const logOf = (number: number) => join(directory, `${sessionId(number)}.jsonl`)
const spent = async (store: Store) => (await store.listSpending(day, 10)).total.cost

describe('what was spent, in plain files', () => {
  it('is in the logs: it is the same after the store is opened again, and without its other files', async () => {
    const store = await open()
    await mustCreate(store, newSession(1), newSession(2))
    await mustAppend(store, appendTo(1, 1, { charge: aCharge('local', '/one', 0.25) }))
    await mustAppend(store, appendTo(2, 1, { charge: aCharge('local', '/one', 0.5) }))
    expect(await spent(store)).toBe(0.75)
    await mustAppend(store, appendTo(1, 2, { charge: aCharge('local', '/one', 1) }))
    expect(await spent(store)).toBe(1.75)
    await store.close()
    for (const file of ['catalogue.jsonl', 'spending.json']) rmSync(join(directory, file), { force: true })
    const again = await open()
    expect(await spent(again)).toBe(1.75)
    await again.close()
  })

  it('leaves out an append that a crash cut off', async () => {
    const store = await open()
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1, { charge: aCharge('local', '/one', 0.25) }))
    const before = readFileSync(logOf(1))
    await mustAppend(store, appendTo(1, 2, { charge: aCharge('local', '/one', 4) }))
    const cut = readFileSync(logOf(1)).subarray(before.length, -20)
    await store.close()
    writeFileSync(logOf(1), before)
    appendFileSync(logOf(1), cut)
    rmSync(join(directory, 'catalogue.jsonl'))
    const again = await open()
    expect(await spent(again)).toBe(0.25)
    await again.close()
  })

  it.each(['before', 'after'])(
    'counts a purged session once if the process dies %s its log is removed',
    async (when) => {
      const store = await open()
      await mustCreate(store, newSession(1, { owner: 'node-a' }))
      await mustAppend(store, appendTo(1, 1, { charge: aCharge('local', '/one', 0.25) }))
      await store.close()
      // As the file is while the log is being removed.
      const leaving = { [sessionId(1)]: [aCharge('local', '/one', 0.25)] }
      writeFileSync(join(directory, 'spending.json'), JSON.stringify({ caps: [{ maxCost: 5 }], added: [], leaving }))
      if (when === 'after') rmSync(logOf(1))
      const again = await open()
      expect([await spent(again), await again.caps()]).toEqual([0.25, [{ maxCost: 5 }]])
      await again.close()
      const third = await open()
      expect(await spent(third)).toBe(0.25)
      await third.close()
    },
  )

  it('counts a session once that is purged while a sum is read', async () => {
    const store = await open()
    await mustCreate(store, newSession(1), newSession(2))
    await mustAppend(store, appendTo(1, 1, { charge: aCharge('local', '/one', 0.25) }))
    await mustAppend(store, appendTo(2, 1, { charge: aCharge('local', '/one', 0.5) }))
    await store.release(sessionId(1), 'node-a', 1)
    const [sum, purged] = await Promise.all([spent(store), store.purge(sessionId(1))])
    expect([sum, codeOf(purged), await spent(store)]).toEqual([0.75, 'ok', 0.75])
    await store.close()
    const again = await open()
    expect(await spent(again)).toBe(0.75)
    expect((await again.listSpending('2026-01-03', 10)).total).toEqual(noneSpent)
    await again.close()
  })
})
