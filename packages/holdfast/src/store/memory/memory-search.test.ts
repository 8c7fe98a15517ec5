import { orThrow, type Recorded } from '@holdfast/protocol'
import { entryOf, recordAt, sessionId, textSaid } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import { searchSessions } from './memory-search.ts'
import type { MemorySession } from './memory-session.ts'

const length = 2000

describe('searchSessions', () => {
  it('reads each record a few times, however long the session is', async () => {
    let reads = 0
    const records = Array.from({ length }, (_, index): Recorded => {
      const { record } = recordAt(index + 1, textSaid(index === length - 1 ? 'a needle' : 'hay'))
      return {
        ...record,
        get seq() {
          reads += 1
          return record.seq
        },
      }
    })
    const session: MemorySession = {
      id: sessionId(1),
      order: 1,
      parent: null,
      base: 0,
      records,
      blobs: [],
      commandHashes: new Map(),
      head: length,
      epoch: 1,
      owner: null,
      entry: entryOf(1),
      draft: null,
      snapshot: null,
      trashedAt: null,
    }
    const found = orThrow(await searchSessions(new Map([[session.id, session]]), { text: 'needle', limit: 5 }))
    expect(found.hits.map(({ message }) => message)).toEqual([length])
    expect(reads).toBeLessThan(4 * length)
  })
})
