import type { Store } from '@holdfast/core/ports'
import { mustCreate, newSession, recordAt, textSaid } from '@holdfast/testkit/contracts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../memory/memory-store.ts'
import { someQuery, someText } from '../../search/testing/awkward-texts.ts'
import { openEmpty, useServer, withDatabase } from '../testing/test-schema.ts'
import { indexPage } from './word-index.ts'

const server = useServer()

/** PostgreSQL's index must agree with a scan, as that of SQLite does: `store/search` has the same test. */
it('finds the same messages in the same order as other stores, with the index and without', {
  timeout: 120_000,
}, async () => {
  const { store, location } = await openEmpty(server())
  let number = 0
  const summarize = async (from: Store, text: string, session: ReturnType<typeof newSession>['session']) => {
    const result = await from.search({ text, limit: 50, session })
    return result.ok ? result.value.hits.map(({ message, score, snippet }) => [message, score, snippet]) : result.fault
  }
  await withDatabase(location, (database) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(someText, { minLength: 1, maxLength: 8 }),
        fc.array(someQuery, { minLength: 1, maxLength: 8 }),
        async (texts, queries) => {
          number += 1
          const records = texts.map((text, index) => recordAt(index + 1, textSaid(text)))
          const created = newSession(number, { records })
          const memory = createMemoryStore()
          await mustCreate(memory, created)
          await mustCreate(store, created)
          for (const isIndexed of [false, true]) {
            while (isIndexed && (await indexPage(database)) > 0);
            for (const text of queries)
              expect(await summarize(store, text, created.session)).toEqual(
                await summarize(memory, text, created.session),
              )
          }
        },
      ),
      { numRuns: 60 },
    ),
  )
  await store.close()
})
