import { describe, it } from 'vitest'
import { seedsThatFoundBugs } from './seeds.ts'
import { liveThrough } from './story.ts'

const asked = process.env['SEED']
const seeds = asked
  ? [Number(asked)]
  : [...new Set([...seedsThatFoundBugs, ...Array.from({ length: 500 }, (_, index) => index + 1)])]

describe('the real runtime, with a crash between any two steps', () => {
  it.each(seeds)('keeps every promise (SEED=%i)', async (seed) => {
    await liveThrough(seed)
  })
})
