import { EntryId, type Queue, type QueueEntry } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { inTurnOrder, movedBy } from './queue-view.tsx'

const entry = (id: number, queue: Queue): QueueEntry => ({
  id: EntryId.parse(id),
  queue,
  content: [{ type: 'text', text: `${id}` }],
})
const [first, other, second, third] = [
  entry(1, 'follow_up'),
  entry(2, 'steering'),
  entry(3, 'follow_up'),
  entry(4, 'follow_up'),
]
const all = [first, other, second, third]

describe('the order of queued prompts', () => {
  it('puts steering before follow-ups', () => {
    expect(inTurnOrder(all).map(({ id }) => id)).toEqual([2, 1, 3, 4])
  })

  it('moves an entry within its own queue, not past its ends', () => {
    expect(movedBy(all, second, -1)).toEqual([3, 1, 4])
    expect(movedBy(all, second, 1)).toEqual([1, 4, 3])
    expect([movedBy(all, first, -1), movedBy(all, third, 1), movedBy(all, other, 1)]).toEqual([null, null, null])
  })
})
