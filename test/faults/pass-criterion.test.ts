import { expect, it } from 'vitest'
import { fill } from './fill.ts'
import { verify } from './pass-criterion.ts'
import { useScratch } from './scratch.ts'
import type { SubjectLocation } from './subject/subject.ts'
import { digestOf, recordAt, sessionOf } from './workload.ts'

const scratch = useScratch({ inMemory: true })

async function filled(kind: SubjectLocation['kind']) {
  const location = scratch.location(kind)
  const heads = await fill(location, 1, 4)
  const head = heads.at(-1) ?? 0
  return { location, heads, head, witness: { log: 1, submitted: head, acknowledged: head } }
}

it('P checks nothing without a submitted or shown record', async () => {
  const { location } = await filled('jsonl')
  const empty = { log: 1, submitted: 0, acknowledged: 0 }
  for (const evidence of [{}, { witnesses: [] }, { witnesses: [empty] }, { shown: [] }])
    await expect(verify({ location, ...evidence })).rejects.toThrow('No record')
})

it('P returns the points it could check with the given evidence', async () => {
  const [files, database] = [await filled('jsonl'), await filled('inline')]
  const checked = async (evidence: Parameters<typeof verify>[0]) => (await verify(evidence)).checked
  expect(await checked({ location: files.location, witnesses: [files.witness] })).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(await checked({ location: database.location, witnesses: [database.witness] })).toEqual([1, 2, 3, 4, 5, 6])
  const nothing = { log: 2, submitted: 1, acknowledged: 0 }
  expect(await checked({ location: scratch.location('inline'), witnesses: [nothing] })).toEqual([2, 4, 5, 6])
  const shown = [{ session: sessionOf(1), after: 0, digests: [digestOf(recordAt(1, 1).record)] }]
  expect(await checked({ location: files.location, shown })).toEqual([1, 3, 5, 6, 7])
})

it.each(['jsonl', 'inline'] as const)('P1 %s: reports missing records', async (kind) => {
  const { location, heads, head, witness } = await filled(kind)
  const older = scratch.location(kind)
  await fill(older, 1, 2)
  const named = heads[1] ?? 0
  expect((await verify({ location, witnesses: [witness] })).violations).toEqual([])
  expect((await verify({ location: older, witnesses: [witness] })).violations).toEqual([
    `P1 ${kind}: log 1: ${head} acknowledged, ${named} read`,
  ])
})

it('P1 and P3: report shown records that are missing or changed', async () => {
  const [digest = '', other = ''] = [1, 2].map((seq) => digestOf(recordAt(1, seq).record))
  const violationsOf = async (digests: readonly string[], session = sessionOf(1)) =>
    (await verify({ location: (await filled('jsonl')).location, shown: [{ session, after: 0, digests }] })).violations
  expect(await violationsOf([digest, other])).toEqual([])
  expect(await violationsOf([other])).toMatchObject([expect.stringMatching(/^P3 .* not what was shown/)])
  expect(await violationsOf([digest], sessionOf(7))).toMatchObject([
    expect.stringMatching(/^P1 .*1 shown after 0, 0 read/),
  ])
})
