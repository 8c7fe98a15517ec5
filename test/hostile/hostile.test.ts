import { createDice } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { cases } from './cases.ts'
import { runCase } from './run-case.ts'

const seed = Number(process.env['SEED'] ?? 1)
/** Wide, for a busy machine: an input that costs quadratic time stalls for longer even in its quick form. */
const times = { stallMsMax: 1000, healthMsP99Max: Number.POSITIVE_INFINITY }

describe(`hostile input (SEED=${seed})`, () => {
  it.each(cases)('from a $from does not stop the others: $name', async (one) => {
    const { violations } = await runCase(one, { isQuick: true, dice: createDice(seed), ...times })
    expect(violations).toEqual([])
  })
})
