import { type MessageId, SessionId } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { type Candidate, createNewestFound, dropRepeatedMessages } from './ranked-page.ts'

const session = SessionId.parse(`ses_0${'0'.repeat(25)}`)
const foundAt = (position: number, message = position): Candidate => ({
  session,
  message: message as MessageId,
  position: [position],
  score: 0,
  snippet: () => '',
})
const placesOf = (found: readonly Candidate[]) => found.map(({ position }) => position[0])

describe('the newest matches of a scan', () => {
  it.each([1, 2, 3, 4, 5])('equal a full sort with one match for each message (seed %i)', (seed) => {
    const dice = createDice(seed)
    const all = Array.from({ length: 300 }, (_, index) => ({ order: dice.below(10_000), index }))
      .toSorted((left, right) => left.order - right.order)
      .map(({ index }) => foundAt(index, dice.below(120)))
    const newest = createNewestFound<Candidate>(20)
    for (const found of all) if (!newest.isTooOld(found.position)) newest.add(found)
    const sorted = all.toSorted((left, right) => (right.position[0] ?? 0) - (left.position[0] ?? 0))
    expect(placesOf(newest.all())).toEqual(placesOf(dropRepeatedMessages(sorted).slice(0, 20)))
  })

  it('report a match as too old once there are enough newer ones', () => {
    const newest = createNewestFound<Candidate>(2)
    for (const position of [5, 6, 7]) newest.add(foundAt(position))
    expect(newest.isTooOld([1])).toBe(false)
    newest.add(foundAt(8))
    expect([newest.isTooOld([6]), newest.isTooOld([9])]).toEqual([true, false])
  })
})
