import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import { fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { checkSessions } from './check-sessions.ts'

const sessionsWritten = 8
const rounds = 3
const kinds = ['sqlite', 'jsonl'] as const

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-in-use-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

it.each(kinds)('the doctor finds nothing wrong in a %s store while sessions are written', async (kind) => {
  const { url: store } = locationIn(base, kind)
  const holdfast = await openHoldfast({ store, environment: { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0' } })
  const stop = new AbortController()
  let written = 0
  const write = async (number: number) => {
    const session = await holdfast.startSession({ workdir: base })
    while (!stop.signal.aborted) {
      await session.addSystemMessage(`line ${written}`)
      await holdfast.storeFile(Buffer.from(`file ${number} ${written}`), { name: 'note.txt' })
      written += 1
    }
  }
  const writing = Promise.all(Array.from({ length: sessionsWritten }, (_, number) => write(number)))
  try {
    for (let round = 0; round < rounds; round += 1) {
      const before = written
      const { findings, isIntact } = await holdfast.doctor()
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
      expect(isIntact).toBe(true)
      expect(written).toBeGreaterThan(before)
    }
  } finally {
    stop.abort()
    await writing
    await holdfast.close()
  }
})

it.each(kinds)(
  'a fold that is saved in a %s store while it is looked through is not ahead of its log',
  async (kind) => {
    const location = locationIn(base, kind)
    const { talk } = await fillStore(location, join(base, 'aside'))
    const source = orThrow(await openReadOnlyStore(location))
    if (source === null) throw new Error('the store was just filled')
    const seen = await source.sessions(0, 100)
    const head = seen.find(({ id }) => id === talk)?.head ?? 0

    const { store } = orThrow(await openDiskStore(location, () => undefined))
    await store.saveSnapshot(talk, { seq: head + 1, fold: 1, body: '{}' })
    await store.close()

    const asSeen = { ...source, sessions: async () => seen }
    const codes = async (isHeld: boolean) =>
      (await checkSessions(asSeen, { isHeld, isDead: async () => false })).findings.map(({ code }) => code)
    expect(await codes(true)).toEqual([])
    expect(await codes(false)).toEqual(['snapshot'])
    await source.close()
  },
)

it.each(kinds)(
  'the doctor does not report a session that is removed from a %s store during the check',
  async (kind) => {
    const location = locationIn(base, kind)
    const { trashed } = await fillStore(location, join(base, 'aside'))
    const source = orThrow(await openReadOnlyStore(location))
    if (source === null) throw new Error('the store was just filled')
    const seen = await source.sessions(0, 100)

    const { store } = orThrow(await openDiskStore(location, () => undefined))
    orThrow(await store.purge(trashed))
    await store.close()

    const asSeen = { ...source, sessions: async () => seen }
    const { findings, sessions } = await checkSessions(asSeen, { isHeld: true, isDead: async () => false })
    expect([findings, sessions]).toEqual([[], 3])
    await source.close()
  },
)
