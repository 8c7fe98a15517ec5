import { describe, expect, it } from 'vitest'
import { combineQueueEntriesToText } from '../value/content.ts'
import { BlobHash, EntryId } from '../value/id.ts'
import { QueueEntry, reorderQueue } from './queue.ts'

const entry = (id: number, queue: 'steering' | 'follow_up', ...texts: readonly string[]) =>
  QueueEntry.parse({ id, queue, content: (texts.length > 0 ? texts : ['x']).map((text) => ({ type: 'text', text })) })
const order = (...ids: readonly number[]) => ids.map((id) => EntryId.parse(id))

describe('reorderQueue', () => {
  const queue = [entry(1, 'steering'), entry(2, 'follow_up'), entry(3, 'steering'), entry(4, 'steering')]
  const reordered = (...ids: readonly number[]) => reorderQueue(queue, 'steering', order(...ids)).map(({ id }) => id)

  it('reorders one queue and leaves the other in place', () => {
    expect(reordered(4, 1, 3)).toEqual([4, 2, 1, 3])
  })

  it('leaves unnamed entries in place and ignores unknown ids', () => {
    expect(reordered(4, 1)).toEqual([4, 2, 3, 1])
    expect(reordered(9, 2, 4, 1)).toEqual([4, 2, 3, 1])
    expect(queue.map(({ id }) => id)).toEqual([1, 2, 3, 4])
  })
})

describe('combineQueueEntriesToText', () => {
  it('joins prompts by blank lines and drops empty ones', () => {
    const entries = [entry(1, 'steering', 'a', '', 'b'), entry(2, 'follow_up', ''), 'c', '']
    expect(combineQueueEntriesToText(entries)).toBe('a\n\nb\n\nc')
    expect(combineQueueEntriesToText([])).toBe('')
  })

  it('takes lists of parts, and names files instead of dropping them', () => {
    const file = { type: 'file' as const, blob: BlobHash.parse('0'.repeat(64)), mediaType: 'image/png', bytes: 1 }
    const parts = [
      { type: 'text' as const, text: 'look' },
      { ...file, name: 'ship.png' },
    ]
    expect(combineQueueEntriesToText([parts, { content: [file] }, { content: 'and' }])).toBe(
      'look\n\n[file ship.png]\n\n[file image/png]\n\nand',
    )
  })
})
