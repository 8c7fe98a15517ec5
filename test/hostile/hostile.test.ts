import { createDice } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { origins } from './case.ts'
import { cases } from './cases.ts'
import { openRig, type Rig } from './run-case.ts'

const seed = Number(process.env['SEED'] ?? 1)
/** Wide, for a busy machine: an input that costs quadratic time stalls for longer even in its quick form. */
const times = { stallMsMax: 1000, healthMsP99Max: Number.POSITIVE_INFINITY }

/** The cases of these origins share a server: most of a short case would be the start of its own. */
const groups: readonly (readonly (typeof origins)[number][])[] = [
  ['model', 'repository', 'site'],
  ['import', 'client'],
  ['program'], // damages the store
]

it('has a group for every origin', () => {
  expect(groups.flat().toSorted()).toEqual(origins.toSorted())
})

describe.each(groups.map((group) => ({ group, names: group.join(', ') })))(
  `hostile input from a $names (SEED=${seed})`,
  ({ group }) => {
    let rig: Rig
    beforeAll(async () => {
      rig = await openRig()
    })
    afterAll(() => rig.close())

    it.each(cases.filter(({ from }) => group.includes(from)))('does not stop the others: $name', async (one) => {
      const { violations } = await rig.run(one, { isQuick: true, dice: createDice(seed), ...times })
      expect(violations).toEqual([])
    })

    it('loses nothing that was acknowledged', async () => {
      expect(await rig.restart()).toEqual([])
    })
  },
)
