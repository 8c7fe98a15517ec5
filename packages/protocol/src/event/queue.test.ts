import { describe, expect, it } from 'vitest'
import { combineQueueEntriesToText } from '../value/content.ts'
import { EntryId } from '../value/id.ts'
import { QueueEntry, reorderQueue } from './queue.ts'

const entry = (id: number, queue: 'steering' | 'follow_up', ...texts: readonly string[]) =>
  QueueEntry.parse({ id, queue, content: (texts.length > 0 ? texts : ['x']).map((text) => ({ type: 'text', text })) })
const order = (...ids: readonly number[]) => ids.map((id) => EntryId.parse(id))

describe('a new order', () => {
  const queue = [entry(1, 'steering'), entry(2, 'follow_up'), entry(3, 'steering'), entry(4, 'steering')]
  const reordered = (...ids: readonly number[]) => reorderQueue(queue, 'steering', order(...ids)).map(({ id }) => id)

  it('moves one queue within its own places', () => {
    expect(reordered(4, 1, 3)).toEqual([4, 2, 1, 3])
  })

  it('leaves what it does not name where it is, and minds no stranger', () => {
    expect(reordered(4, 1)).toEqual([4, 2, 3, 1])
    expect(reordered(9, 2, 4, 1)).toEqual([4, 2, 3, 1])
    expect(queue.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  })
})

describe('prompts as one text', () => {
  it('are joined by a blank line, empty ones dropped', () => {
    const entries = [entry(1, 'steering', 'a', '', 'b'), entry(2, 'follow_up', ''), 'c', '']
    expect(combineQueueEntriesToText(entries)).toBe('a\n\nb\n\nc')
    expect(combineQueueEntriesToText([])).toBe('')
  })
})
