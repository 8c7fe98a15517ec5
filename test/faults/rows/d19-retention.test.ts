import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Removal } from '@holdfast/protocol'
import { type Holdfast, openHoldfast } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { useScratch } from '../scratch.ts'
import { openStore } from '../subject/store.ts'
import { databaseIn, type Read, type SubjectLocation } from '../subject/subject.ts'
import { sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const kinds = ['sqlite', 'jsonl'] as const
type Kind = (typeof kinds)[number]

/** Logs 1 and 2 are old, and 2 is damaged; the ids of 10 and 100 differ from theirs in one digit. */
const logs = [1, 2, 10, 100]
const old = [1, 2]
const damaged = 2
/** The last message of log n is n seconds after the beginning of the year. */
const before = new Date(Date.UTC(2026, 0, 1) + 5000)
/** Files of other programs, or unreadable ones. */
const strangers = [`${sessionOf(3)}.jsonl`, `${sessionOf(1)}.jsonl.old`, `${sessionOf(1)}0.jsonl`]

/** Written and read without SQLite's workers; only the code under test has them. */
async function aStore(kind: Kind): Promise<SubjectLocation> {
  const location = scratch.location(kind === 'sqlite' ? 'inline' : kind)
  for (const log of logs) await fill(location, log, 4)
  if (kind === 'sqlite') damageRow(databaseIn(location.directory))
  else {
    const path = join(location.directory, `${sessionOf(damaged)}.jsonl`)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":2,', '"seq":7,'))
    for (const name of strangers) writeFileSync(join(location.directory, name), name.endsWith('.old') ? 'kept' : '')
  }
  return location
}

function damageRow(path: string): void {
  const database = new DatabaseSync(path)
  const which = 'seq = 2 and sid = (select sid from session where id = ?)'
  database.prepare(`update record set crc = crc + 1 where ${which}`).run(sessionOf(damaged))
  database.close()
}

const open = (
  { kind, directory }: SubjectLocation,
  options: Parameters<typeof openHoldfast>[0] = {},
): Promise<Holdfast> =>
  openHoldfast({
    store: kind === 'jsonl' ? `jsonl:${directory}` : `sqlite:${databaseIn(directory)}`,
    environment: { HOLDFAST_HOME: join(scratch.home, 'home'), DEMO_PACE: '0' },
    onProblem: () => undefined, // the report of a damaged log is tested elsewhere
    ...options,
  })

/** Returns every record of each log, and the other files. */
async function contentOf(location: SubjectLocation): Promise<ReadonlyMap<number, readonly Read[]>> {
  const subject = await mustOpen(location)
  const content = new Map<number, readonly Read[]>()
  for (const log of logs) content.set(log, await subject.read(log, 0))
  await subject.close()
  return content
}
const strangersIn = ({ directory }: SubjectLocation) =>
  readdirSync(directory).filter((name) => strangers.includes(name))

const idsOf = (named: readonly { readonly id: string }[]) => named.map(({ id }) => id).toSorted()
const trashOf = async (holdfast: Holdfast) => idsOf((await holdfast.trash()).sessions)

describe.each(kinds)('D19 %s: cleanup next to damaged, empty or similarly named logs', (kind) => {
  it('moves only old sessions to the trash, by their whole id, and restores them unchanged', async () => {
    const location = await aStore(kind)
    const content = await contentOf(location)
    expect(content.get(damaged)).toContain('lost')
    const holdfast = await open(location)
    const would = await holdfast.cleanupOlderThan(before, { dryRun: true })
    const did = await holdfast.prune({ before })
    expect([idsOf(would.gone), idsOf(did.gone), did.stayed]).toEqual([old.map(sessionOf), old.map(sessionOf), []])
    expect(await trashOf(holdfast)).toEqual(old.map(sessionOf))
    expect(idsOf((await holdfast.clearAll()).gone)).toEqual([10, 100].map(sessionOf))
    for (const log of logs) await holdfast.restore(sessionOf(log))
    await holdfast.close()
    expect(await contentOf(location)).toEqual(content)
    expect(strangersIn(location)).toHaveLength(kind === 'jsonl' ? strangers.length : 0)
  })

  it('removes only sessions that a person trashed and then emptied from the trash', async () => {
    const location = await aStore(kind)
    const content = await contentOf(location)
    const holdfast = await open(location)
    await holdfast.delete(sessionOf(1))
    expect(idsOf((await holdfast.emptyTrash()).gone)).toEqual([sessionOf(1)])
    await holdfast.close()
    expect(await contentOf(location)).toEqual(new Map([...content, [1, []]]))
    expect(strangersIn(location)).toHaveLength(kind === 'jsonl' ? strangers.length : 0)
  })

  it('moves old sessions by retention without data loss', async () => {
    const location = await aStore(kind)
    const content = await contentOf(location)
    const pruned = Promise.withResolvers<Removal>()
    const holdfast = await open(location, { retention: { days: 1, onPruned: pruned.resolve } })
    expect((await pruned.promise).count).toBe(logs.length)
    for (const log of logs) await holdfast.restore(sessionOf(log))
    await holdfast.close()
    expect(await contentOf(location)).toEqual(content)
  })

  it('empties the trash after its time, but keeps damaged sessions', async () => {
    const location = await aStore(kind)
    const content = await contentOf(location)
    const store = await openStore(kind, location.directory)
    if (!store.ok) throw new Error(store.fault.message)
    for (const log of old) {
      const lease = await store.value.claim(sessionOf(log), 'faults', 'faults')
      if (lease.ok) await store.value.release(sessionOf(log), 'faults', lease.value.epoch)
      expect(await store.value.trash(sessionOf(log), 0)).toMatchObject({ ok: true })
    }
    await store.value.close()
    const holdfast = await open(location)
    await expect.poll(() => trashOf(holdfast)).toEqual([sessionOf(damaged)])
    // Work that has started is complete when the store is closed.
    await holdfast.close()
    const again = await open(location)
    await again.restore(sessionOf(damaged))
    await again.close()
    expect(await contentOf(location)).toEqual(new Map([...content, [1, []]]))
  })
})

it('D19 jsonl: a log whose messages are all damaged does not count as empty', async () => {
  const location = scratch.location('jsonl')
  const first = await open(location)
  const session = await first.startSession({ workdir: scratch.home, model: 'demo/agent' })
  for await (const frame of session.subscribe()) {
    if (frame.type === 'snapshot') await session.sendPrompt('list')
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await first.close()
  const path = join(location.directory, `${session.id}.jsonl`)
  const whole = readFileSync(path, 'utf8')
  const bad = whole.replaceAll(/"type":"(user|text)[.]said"/g, (type) => type.toUpperCase())
  expect(bad).not.toBe(whole)
  writeFileSync(path, bad)
  rmSync(join(location.directory, 'catalogue.jsonl'))
  for (let time = 0; time < 2; time++) {
    const again = await open(location)
    expect(idsOf((await again.list()).sessions)).toEqual([session.id])
    await again.close()
  }
  // The last write lacks a line, so it counts as torn and is moved aside.
  expect(readFileSync(path, 'utf8') + readFileSync(`${path}.torn-1`, 'utf8')).toBe(bad)
})
