import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SearchRequest } from '@holdfast/core/ports'
import { mustCreate, newSession, recordAt, said } from '@holdfast/testkit/contracts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../memory/memory-store.ts'
import { createReader } from '../sqlite/read/reader.ts'
import { encodeNew } from '../sqlite/rows/encode.ts'
import { createWriter } from '../sqlite/write/writer.ts'

const piece = fc.constantFrom(
  ...[
    'user',
    'userName',
    'getUserName',
    'user_name',
    '_x',
    'HTTPServer2',
    'src/a.ts',
    'foo.bar()',
    "don't",
    'é',
    'e\u0301',
  ],
  ...[
    '東京',
    '京',
    'カ\u3099',
    'ガ',
    '서울',
    'Straße',
    'ﬁ',
    'Σ',
    'ς',
    'İ',
    'i',
    '１２',
    '12',
    '\ud83d\ude42',
    '\ud800',
    '\0',
    '"',
    '*',
  ],
  ...[' ', ' ', ' ', '\n', '-', ':', '__', 'a', 'b', 'ab', 'AB', 'aB', 'नमस्ते', 'สวัสดี', 'x'.repeat(70), ':ruser'],
)
const someText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
const someQuery = fc
  .array(fc.oneof(piece, fc.constantFrom('* ', ' "', '" ', ' ')), { maxLength: 6 })
  .map((all) => all.join(''))

/** The index and a scan must say the same: of every text, every query and every order. */
it('an index finds what a scan finds, in the same order', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someText, { minLength: 1, maxLength: 6 }),
      fc.array(someQuery, { minLength: 1, maxLength: 6 }),
      async (texts, queries) => {
        const session = newSession(1, { records: texts.map((text, index) => recordAt(index + 1, said(text))) })
        const memory = createMemoryStore()
        await mustCreate(memory, session)
        await using index = indexed(session)
        for (const text of queries) {
          const request = { text, limit: 50 }
          const [found, scanned] = [index.search(request), await memory.search(request)]
          const told = (result: typeof scanned) =>
            result.ok ? result.value.hits.map(({ message, score, snippet }) => [message, score, snippet]) : result.fault
          expect(told(found)).toEqual(told(scanned))
        }
      },
    ),
    { numRuns: 40 },
  )
})

function indexed(session: Parameters<typeof encodeNew>[0]) {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-agree-'))
  const path = join(home, 'holdfast.db')
  const writer = createWriter({ path })
  writer.run([{ op: 'open' }, encodeNew(session), { op: 'followSearch', forMs: 60_000 }])
  const reader = createReader(path)
  return {
    search: (request: SearchRequest) => reader.run<'search'>({ op: 'search', request }),
    async [Symbol.asyncDispose]() {
      reader.close()
      writer.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
