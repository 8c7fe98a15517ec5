import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SearchRequest } from '@holdfast/core/ports'
import { mustCreate, newSession, recordAt, textSaid } from '@holdfast/testkit/contracts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.ts'
import { createReader } from '../sqlite/read/reader.ts'
import { encodeNew } from '../sqlite/rows/encode-changes.ts'
import { createWriter } from '../sqlite/write/writer.ts'
import { someQuery, someText } from './testing/awkward-texts.ts'

/** The index and a scan must agree on every text, every query and every order. */
it('returns the same hits in the same order with an index and without', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someText, { minLength: 1, maxLength: 6 }),
      fc.array(someQuery, { minLength: 1, maxLength: 6 }),
      async (texts, queries) => {
        const session = newSession(1, { records: texts.map((text, index) => recordAt(index + 1, textSaid(text))) })
        const memory = createMemoryStore()
        await mustCreate(memory, session)
        await using indexed = openStore(session, true)
        await using unindexed = openStore(session, false)
        for (const text of queries) {
          const request = { text, limit: 50 }
          const scanned = await memory.search(request)
          const summarize = (result: typeof scanned) =>
            result.ok ? result.value.hits.map(({ message, score, snippet }) => [message, score, snippet]) : result.fault
          expect(summarize(indexed.search(request))).toEqual(summarize(scanned))
          expect(summarize(unindexed.search(request))).toEqual(summarize(scanned))
        }
      },
    ),
    { numRuns: 40 },
  )
})

/** A SQLite store with the session. Without an index, a search reads the records. */
function openStore(session: Parameters<typeof encodeNew>[0], isIndexed: boolean) {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-agree-'))
  const path = join(home, 'holdfast.db')
  const writer = createWriter({ path })
  writer.run([['open'], encodeNew(session), ...(isIndexed ? ([['extendIndex', 60_000]] as const) : [])])
  const reader = createReader(path)
  return {
    search: (request: SearchRequest) => reader.ask('search', request),
    async [Symbol.asyncDispose]() {
      reader.close()
      writer.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
