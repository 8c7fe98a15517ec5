import { cpSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fill } from './fill.ts'
import { judge } from './pass-criterion.ts'
import { useScratch } from './scratch.ts'
import type { Place } from './subject/subject.ts'
import { digestOf, recordAt, sessionOf } from './workload.ts'

const scratch = useScratch({ inMemory: true })

async function filled(kind: Place['kind']) {
  const place = scratch.place(kind)
  const heads = await fill(place, 1, 4)
  const head = heads.at(-1) ?? 0
  return { place, heads, head, witness: { log: 1, submitted: head, acknowledged: head } }
}

it('P checks nothing without a submitted or shown record', async () => {
  const { place } = await filled('jsonl')
  const empty = { log: 1, submitted: 0, acknowledged: 0 }
  for (const evidence of [{}, { witnesses: [] }, { witnesses: [empty] }, { shown: [] }])
    await expect(judge({ place, ...evidence })).rejects.toThrow('No record')
})

it('P returns the points it could check with the given evidence', async () => {
  const [files, database] = [await filled('jsonl'), await filled('inline')]
  const checked = async (evidence: Parameters<typeof judge>[0]) => (await judge(evidence)).checked
  expect(await checked({ place: files.place, witnesses: [files.witness] })).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(await checked({ place: database.place, witnesses: [database.witness] })).toEqual([1, 2, 3, 4, 5, 6])
  const nothing = { log: 2, submitted: 1, acknowledged: 0 }
  expect(await checked({ place: scratch.place('inline'), witnesses: [nothing] })).toEqual([2, 4, 5, 6])
  const shown = [{ session: sessionOf(1), after: 0, digests: [digestOf(recordAt(1, 1).record)] }]
  expect(await checked({ place: files.place, shown })).toEqual([1, 3, 5, 6, 7])
})

it.each(['jsonl', 'inline'] as const)(
  'P1 %s: reports missing records, except those after the named limit',
  async (kind) => {
    const { place, heads, head, witness } = await filled(kind)
    const older = scratch.place(kind)
    await fill(older, 1, 2)
    const named = heads[1] ?? 0
    const copy = () => {
      const directory = scratch.directory()
      cpSync(older.directory, directory, { recursive: true })
      return { kind, directory }
    }
    const violationsOf = async (namedUpTo?: number) =>
      (await judge({ place: copy(), witnesses: [{ ...witness, ...(namedUpTo !== undefined && { namedUpTo }) }] }))
        .violations
    expect((await judge({ place, witnesses: [witness] })).violations).toEqual([])
    expect(await violationsOf()).toEqual([`P1 ${kind}: log 1: ${head} acknowledged, ${named} read`])
    expect(await violationsOf(named)).toEqual([])
    expect(await violationsOf(named + 1)).toHaveLength(1)
  },
)

it('P1 and P3: report shown records that are missing or changed', async () => {
  const [digest = '', other = ''] = [1, 2].map((seq) => digestOf(recordAt(1, seq).record))
  const violationsOf = async (digests: readonly string[], session = sessionOf(1)) =>
    (await judge({ place: (await filled('jsonl')).place, shown: [{ session, after: 0, digests }] })).violations
  expect(await violationsOf([digest, other])).toEqual([])
  expect(await violationsOf([other])).toMatchObject([expect.stringMatching(/^P3 .* not what was shown/)])
  expect(await violationsOf([digest], sessionOf(7))).toMatchObject([
    expect.stringMatching(/^P1 .*1 shown after 0, 0 read/),
  ])
})
