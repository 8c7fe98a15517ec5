import { expect, it } from 'vitest'
import { turnBefore } from './rewind-by-key.tsx'

it('finds the turn before the last one, and none in the first turn', () => {
  const of = (...turns: readonly number[]) => turnBefore(turns.map((turn) => ({ turn }) as never)) // only the turn is read
  expect([of(0, 0, 2, 2, 3), of(0, 0), of()]).toEqual([2, null, null])
})
