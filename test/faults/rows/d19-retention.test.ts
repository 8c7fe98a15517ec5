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
import { databaseIn, type Place, type Read } from '../subject/subject.ts'
import { sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const kinds = ['sqlite', 'jsonl'] as const
type Kind = (typeof kinds)[number]

/** 1 and 2 are old, and 2 is damaged; the ids of 10 and 100 differ from theirs in one digit. */
const logs = [1, 2, 10, 100]
const old = [1, 2]
const damaged = 2
/** Nobody spoke in log n later than n seconds after the beginning of the year. */
const before = new Date(Date.UTC(2026, 0, 1) + 5000)
/** Files of nobody, or of nothing that can be read. */
const strangers = [`${sessionOf(3)}.jsonl`, `${sessionOf(1)}.jsonl.old`, `${sessionOf(1)}0.jsonl`]

/** Written and read without SQLite's workers; only what is tested has them. */
async function aStore(kind: Kind): Promise<Place> {
  const place = scratch.place(kind === 'sqlite' ? 'inline' : kind)
  for (const log of logs) await fill(place, log, 4)
  if (kind === 'sqlite') damageRow(databaseIn(place.directory))
  else {
    const path = join(place.directory, `${sessionOf(damaged)}.jsonl`)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"seq":2,', '"seq":7,'))
    for (const name of strangers) writeFileSync(join(place.directory, name), name.endsWith('.old') ? 'kept' : '')
  }
  return place
}

function damageRow(path: string): void {
  const database = new DatabaseSync(path)
  const which = 'seq = 2 and sid = (select sid from session where id = ?)'
  database.prepare(`update record set crc = crc + 1 where ${which}`).run(sessionOf(damaged))
  database.close()
}

const open = ({ kind, directory }: Place, options: Parameters<typeof openHoldfast>[0] = {}): Promise<Holdfast> =>
  openHoldfast({
    store: kind === 'jsonl' ? `jsonl:${directory}` : `sqlite:${databaseIn(directory)}`,
    environment: { HOLDFAST_HOME: join(scratch.home, 'home'), DEMO_PACE: '0' },
    onProblem: () => undefined, // that a log is damaged is told, and tested elsewhere
    ...options,
  })

/** Every record of each log, and what else lies there. */
async function contentOf(place: Place): Promise<ReadonlyMap<number, readonly Read[]>> {
  const subject = await mustOpen(place)
  const content = new Map<number, readonly Read[]>()
  for (const log of logs) content.set(log, await subject.read(log, 0))
  await subject.close()
  return content
}
const strangersIn = ({ directory }: Place) => readdirSync(directory).filter((name) => strangers.includes(name))

const idsOf = (named: readonly { readonly id: string }[]) => named.map(({ id }) => id).toSorted()
const trashOf = async (holdfast: Holdfast) => idsOf((await holdfast.trash()).sessions)

describe.each(kinds)('D19 %s: clean-up beside what is damaged, empty or named alike', (kind) => {
  it('takes only what is old, by its whole id, into the trash, and all of it comes back as it was', async () => {
    const place = await aStore(kind)
    const content = await contentOf(place)
    expect(content.get(damaged)).toContain('lost')
    const holdfast = await open(place)
    const would = await holdfast.cleanupOlderThan(before, { dryRun: true })
    const did = await holdfast.prune({ before })
    expect([idsOf(would.gone), idsOf(did.gone), did.stayed]).toEqual([old.map(sessionOf), old.map(sessionOf), []])
    expect(await trashOf(holdfast)).toEqual(old.map(sessionOf))
    expect(idsOf((await holdfast.clearAll()).gone)).toEqual([10, 100].map(sessionOf))
    for (const log of logs) await holdfast.restore(sessionOf(log))
    await holdfast.close()
    expect(await contentOf(place)).toEqual(content)
    expect(strangersIn(place)).toHaveLength(kind === 'jsonl' ? strangers.length : 0)
  })

  it('removes for good only what a person put into the trash and emptied', async () => {
    const place = await aStore(kind)
    const content = await contentOf(place)
    const holdfast = await open(place)
    await holdfast.delete(sessionOf(1))
    expect(idsOf((await holdfast.emptyTrash()).gone)).toEqual([sessionOf(1)])
    await holdfast.close()
    expect(await contentOf(place)).toEqual(new Map([...content, [1, []]]))
    expect(strangersIn(place)).toHaveLength(kind === 'jsonl' ? strangers.length : 0)
  })

  it('moves by retention what is old, and loses nothing of it', async () => {
    const place = await aStore(kind)
    const content = await contentOf(place)
    const pruned = Promise.withResolvers<Removal>()
    const holdfast = await open(place, { retention: { days: 1, onPruned: pruned.resolve } })
    expect((await pruned.promise).count).toBe(logs.length)
    for (const log of logs) await holdfast.restore(sessionOf(log))
    await holdfast.close()
    expect(await contentOf(place)).toEqual(content)
  })

  it('empties the trash by itself after its time, but never of what is damaged', async () => {
    const place = await aStore(kind)
    const content = await contentOf(place)
    const store = await openStore(kind, place.directory)
    if (!store.ok) throw new Error(store.fault.message)
    for (const log of old) {
      const lease = await store.value.claim(sessionOf(log), 'faults', 'faults')
      if (lease.ok) await store.value.release(sessionOf(log), 'faults', lease.value.epoch)
      expect(await store.value.trash(sessionOf(log), 0)).toMatchObject({ ok: true })
    }
    await store.value.close()
    const holdfast = await open(place)
    await expect.poll(() => trashOf(holdfast)).toEqual([sessionOf(damaged)])
    // What is done after it has begun is done by the time it is closed.
    await holdfast.close()
    const again = await open(place)
    await again.restore(sessionOf(damaged))
    await again.close()
    expect(await contentOf(place)).toEqual(new Map([...content, [1, []]]))
  })
})

it('D19 jsonl: a log of which all that was said is damaged is not taken for one that nobody spoke in', async () => {
  const place = scratch.place('jsonl')
  const first = await open(place)
  const session = await first.startSession({ workdir: scratch.home, model: 'demo/agent' })
  for await (const frame of session.subscribe()) {
    if (frame.type === 'snapshot') await session.sendPrompt('list')
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await first.close()
  const path = join(place.directory, `${session.id}.jsonl`)
  const whole = readFileSync(path, 'utf8')
  const bad = whole.replaceAll(/"type":"(user|text)[.]said"/g, (type) => type.toUpperCase())
  expect(bad).not.toBe(whole)
  writeFileSync(path, bad)
  rmSync(join(place.directory, 'catalogue.jsonl'))
  for (let time = 0; time < 2; time++) {
    const again = await open(place)
    expect(idsOf((await again.list()).sessions)).toEqual([session.id])
    await again.close()
  }
  // The last write lacks a line, so it counts as torn, and lies beside.
  expect(readFileSync(path, 'utf8') + readFileSync(`${path}.torn-1`, 'utf8')).toBe(bad)
})
