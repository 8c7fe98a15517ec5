import type { SearchRequest, Store } from '@holdfast/core/ports'
import { CallId, type Event, StepId, TurnNumber } from '@holdfast/protocol'
import { describe, expect, it, vi } from 'vitest'
import {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  note,
  type OpenStore,
  recordAt,
  sessionId,
  textSaid,
  useStore,
} from './store-fixture.ts'

const asked = (text: string): Event => ({
  type: 'user.said',
  turn: TurnNumber.parse(0),
  content: [{ type: 'text', text }],
})
const called = (tool: string, args: Record<string, unknown>): Event => ({
  type: 'call.requested',
  turn: TurnNumber.parse(0),
  step: StepId.parse(1),
  tool,
  args,
  provider: 'demo',
})
const returned = (call: number, text: string): Event => ({
  type: 'call.settled',
  call: CallId.parse(call),
  outcome: { type: 'ok', output: { text } },
  durationMs: 1,
})

/** Creates a session with a record for each event, from seq 1. */
const sessionOf = (number: number, ...events: readonly Event[]) =>
  newSession(number, { records: events.map((event, index) => recordAt(index + 1, event)) })

type Asked = Partial<Omit<SearchRequest, 'text'>>

async function find(store: Store, text: string, more: Asked = {}) {
  const found = await store.search({ text, limit: 50, ...more })
  if (!found.ok) throw new Error(`${found.fault.code}: ${found.fault.message}`)
  return found.value
}

/** Returns the messages found, as `session/message`, in the order they were created. */
async function matches(store: Store, text: string, more: Asked = {}): Promise<readonly string[]> {
  const { hits } = await find(store, text, more)
  return hits.map(({ session, message }) => `${Number(session.slice(-6))}/${message}`).toSorted()
}

/** Describes the search for messages. */
export function describeSearch(open: OpenStore): void {
  const store = useStore(open)

  describe('search', () => {
    it('returns session, message, role, time and an excerpt', async () => {
      await mustCreate(store(), sessionOf(1, asked('Where is the harbor?'), textSaid('North of the old lighthouse.')))
      expect(await find(store(), 'LIGHTHOUSE')).toMatchObject({
        hits: [
          {
            session: sessionId(1),
            title: 'Session 1',
            message: 2,
            role: 'assistant',
            at: '2026-01-02T03:04:05.678Z',
            snippet: 'North of the old lighthouse.',
          },
        ],
        next: null,
      })
    })

    it('finds records just appended, and requires every word', async () => {
      await mustCreate(store(), sessionOf(1, textSaid('red apples')))
      await mustAppend(store(), appendTo(1, 1, { records: [recordAt(2, textSaid('green apples and pears'))] }))
      expect(await matches(store(), 'apples')).toEqual(['1/1', '1/2'])
      expect(await matches(store(), 'pears apples')).toEqual(['1/2'])
      expect(await matches(store(), 'red pears')).toEqual([])
    })

    it('finds words by prefix, and phrases', async () => {
      await mustCreate(
        store(),
        sessionOf(1, textSaid('the harbor master sleeps'), textSaid('the master of the harbor')),
      )
      expect(await matches(store(), 'harb')).toEqual([])
      expect(await matches(store(), 'harb*')).toEqual(['1/1', '1/2'])
      expect(await matches(store(), '"harbor master"')).toEqual(['1/1'])
      expect(await matches(store(), '"the harbor mas*"')).toEqual(['1/1'])
      expect(await matches(store(), '"the harbor mas"*')).toEqual(['1/1'])
      expect(await matches(store(), '"harbor master" the')).toEqual(['1/1'])
    })

    it('ignores case, accents, width and ligatures', async () => {
      await mustCreate(store(), sessionOf(1, textSaid('Ein Café in Ürümqi, ｆｕｌｌ ﬁre, ΟΔΟΣ, İzmir')))
      for (const text of ['cafe', 'CAFÉ', 'cafe\u0301', 'urumqi', 'full', 'fire', 'οδος', 'οδοσ', 'izmir']) {
        expect([text, await matches(store(), text)]).toEqual([text, ['1/1']])
      }
    })

    it('finds Chinese, Japanese, Korean and Thai inside a run of characters', async () => {
      await mustCreate(
        store(),
        sessionOf(
          1,
          textSaid('我们在东京的办公室见面'),
          textSaid('東京タワーへ行きました'),
          textSaid('서울에서 만나요'),
          textSaid('สวัสดีชาวโลก'),
        ),
      )
      expect(await matches(store(), '办公室')).toEqual(['1/1'])
      expect(await matches(store(), '公办')).toEqual([])
      expect(await matches(store(), '京')).toEqual(['1/1', '1/2'])
      expect(await matches(store(), 'タワー')).toEqual(['1/2'])
      expect(await matches(store(), 'ダワー')).toEqual([])
      expect(await matches(store(), '서울')).toEqual(['1/3'])
      expect(await matches(store(), 'ชาว')).toEqual(['1/4'])
      expect(await matches(store(), '办公*')).toEqual(['1/1'])
    })

    it('finds identifiers whole, by prefix and by their parts', async () => {
      await mustCreate(
        store(),
        sessionOf(
          1,
          textSaid('call getUserName() first'),
          textSaid('the column user_name_hash is new'),
          textSaid('see packages/core/src/store-file.ts, line 7'),
          textSaid('it is foo.bar(baz) and HTTPServer'),
          textSaid('userName getOther'),
        ),
      )
      expect(await matches(store(), 'getUserName')).toEqual(['1/1'])
      expect(await matches(store(), 'getuser*')).toEqual(['1/1'])
      expect(await matches(store(), 'userName')).toEqual(['1/1', '1/2', '1/5'])
      expect(await matches(store(), 'user_name')).toEqual(['1/1', '1/2', '1/5'])
      expect(await matches(store(), 'user_na*')).toEqual(['1/1', '1/2', '1/5'])
      expect(await matches(store(), 'user')).toEqual(['1/1', '1/2', '1/5'])
      expect(await matches(store(), 'user_name_hash')).toEqual(['1/2'])
      expect(await matches(store(), 'core/src/store-file.ts')).toEqual(['1/3'])
      expect(await matches(store(), 'store-file')).toEqual(['1/3'])
      expect(await matches(store(), 'foo.bar()')).toEqual(['1/4'])
      expect(await matches(store(), 'server')).toEqual(['1/4'])
      expect(await matches(store(), '"userName"')).toEqual(['1/5'])
      expect(await matches(store(), 'nameGet')).toEqual([])
    })

    it('finds calls by tool, arguments and output, each once', async () => {
      await mustCreate(
        store(),
        sessionOf(
          1,
          called('read_file', { path: 'notes/todo.md', lines: [1, 20] }),
          returned(1, 'buy bread; todo: sleep'),
          called('shell', { command: 'cat notes/todo.md' }),
          returned(3, 'buy bread'),
          note('nothing to do'),
        ),
      )
      expect(await matches(store(), 'read_file')).toEqual(['1/1'])
      expect(await matches(store(), 'todo')).toEqual(['1/1', '1/3'])
      expect(await matches(store(), 'bread', { tool: 'shell' })).toEqual(['1/3'])
      expect(await matches(store(), 'todo', { tool: 'read_file' })).toEqual(['1/1'])
      expect(await matches(store(), 'todo', { tool: 'write_file' })).toEqual([])
      expect(await matches(store(), 'path')).toEqual([])
      expect(await find(store(), 'bread', { tool: 'shell' })).toMatchObject({ hits: [{ role: 'tool', message: 3 }] })
    })

    it('filters by workspace, session, role and time', async () => {
      const at = (seq: number, text: string, when: string) => {
        const { record, body } = recordAt(seq, textSaid(text))
        return { record: { ...record, at: when }, body }
      }
      await mustCreate(
        store(),
        newSession(1, {
          records: [
            at(1, 'word', '2024-12-31T23:59:59.999Z'),
            at(2, 'word', '2026-02-28T12:00:00.000Z'),
            at(3, 'word', '2026-03-01T00:00:00.000Z'),
          ],
        }),
        newSession(2, {
          records: [recordAt(1, asked('word')), recordAt(2, note('word'))],
          entry: entryOf(2, { meta: { workspace: '/elsewhere' } }),
        }),
      )
      const workspace = '/elsewhere'
      expect(await matches(store(), 'word', { workspace })).toEqual(['2/1', '2/2'])
      expect(await matches(store(), 'word', { workspace, role: 'system' })).toEqual(['2/2'])
      expect(await matches(store(), 'word', { workspace, session: sessionId(1) })).toEqual([])
      expect(await matches(store(), 'word', { role: 'user' })).toEqual(['2/1'])
      expect(await matches(store(), 'word', { session: sessionId(2) })).toEqual(['2/1', '2/2'])
      expect(await matches(store(), 'word', { session: sessionId(9) })).toEqual([])
      expect(await matches(store(), 'word', { since: '2026-02-28T12:00:00.001Z' })).toEqual(['1/3'])
      expect(await matches(store(), 'word', { since: '2026-02-28T12:00:00Z' })).toEqual(['1/2', '1/3'])
      expect(await matches(store(), 'word', { until: '2026-01-01T00:00:00Z' })).toEqual(['1/1'])
      expect(await matches(store(), 'word', { since: '2025-01-01T00:00:00Z', until: '2026-03-01T00:00:00Z' })).toEqual([
        '1/2',
        '2/1',
        '2/2',
      ])
      expect(await matches(store(), 'word', { since: '2026-03-01T00:00:00Z', until: '2026-03-01T00:00:00Z' })).toEqual(
        [],
      )
    })

    it('uses the current title and workspace of a session', async () => {
      await mustCreate(store(), sessionOf(1, textSaid('word')))
      await matches(store(), 'word')
      const entry = entryOf(1, { meta: { title: 'Renamed', workspace: '/moved' } })
      await mustAppend(store(), appendTo(1, 1, { records: [recordAt(2, textSaid('another word'))], entry }))
      expect((await find(store(), 'word')).hits.map(({ title }) => title)).toEqual(['Renamed', 'Renamed'])
      expect(await matches(store(), 'word', { workspace: '/moved' })).toEqual(['1/1', '1/2'])
      expect(await matches(store(), 'word', { workspace: entryOf(1).meta.workspace })).toEqual([])
    })

    it('skips sessions in the trash, and finds them after a restore', async () => {
      await mustCreate(store(), sessionOf(1, textSaid('word')), sessionOf(2, textSaid('word')))
      await store().release(sessionId(1), 'node-a', 1)
      await store().trash(sessionId(1), 1)
      expect(await matches(store(), 'word')).toEqual(['2/1'])
      await store().restore(sessionId(1))
      expect(await matches(store(), 'word')).toEqual(['1/1', '2/1'])
    })

    it('skips empty and removed sessions', async () => {
      const unspoken = { entry: entryOf(1, { spoken: false }), records: [recordAt(1, note('word'))] }
      await mustCreate(store(), newSession(1, unspoken), sessionOf(2, textSaid('word')), sessionOf(3, textSaid('word')))
      expect(await matches(store(), 'word')).toEqual(['2/1', '3/1'])
      await store().removeUnspoken(['node-a'])
      await store().release(sessionId(3), 'node-a', 1)
      await store().purge(sessionId(3))
      expect(await matches(store(), 'word')).toEqual(['2/1'])
      // A new session may reuse the rows of the removed one.
      await mustCreate(store(), sessionOf(4, textSaid('another'), textSaid('word')))
      expect(await matches(store(), 'word')).toEqual(['2/1', '4/2'])
      expect(await matches(store(), 'another')).toEqual(['4/1'])
    })

    it('attributes a shared past to the parent, or to the oldest fork once the parent is gone', async () => {
      const fork = (number: number, base: number, text: string) =>
        newSession(number, { parent: sessionId(1), base, records: [recordAt(base + 1, textSaid(text))] })
      await mustCreate(store(), sessionOf(1, textSaid('shared word'), textSaid('later word'), textSaid('last word')))
      await mustCreate(store(), fork(2, 1, 'own word'), fork(3, 2, 'own word'))
      expect(await matches(store(), 'word')).toEqual(['1/1', '1/2', '1/3', '2/2', '3/3'])
      expect(await matches(store(), 'word', { session: sessionId(3) })).toEqual(['3/1', '3/2', '3/3'])

      await store().release(sessionId(1), 'node-a', 1)
      await store().trash(sessionId(1), 1)
      const inherited = ['2/1', '2/2', '3/2', '3/3']
      expect(await matches(store(), 'word')).toEqual(inherited)
      await store().purge(sessionId(1))
      expect(await matches(store(), 'word')).toEqual(inherited)
      await store().release(sessionId(2), 'node-a', 1)
      await store().purge(sessionId(2))
      expect(await matches(store(), 'word')).toEqual(['3/1', '3/2', '3/3'])
    })

    it('returns the best first, in pages that stay stable while records are added', async () => {
      const often = (count: number) => textSaid(`${'word '.repeat(count)}${'filler '.repeat(50)}`)
      await mustCreate(store(), sessionOf(1, often(1), often(5), often(1), often(9), often(1)))
      const first = await find(store(), 'word', { limit: 2 })
      expect(first.hits.map(({ message }) => message)).toEqual([4, 2])
      await mustAppend(store(), appendTo(1, 5, { records: [recordAt(6, often(3)), recordAt(7, often(20))] }))
      const second = await find(store(), 'word', { limit: 2, cursor: first.next ?? '' })
      expect(second.hits.map(({ message }) => message)).toEqual([5, 3])
      const third = await find(store(), 'word', { limit: 2, cursor: second.next ?? '' })
      expect([third.hits.map(({ message }) => message), third.next]).toEqual([[1], null])
    })

    it('ranks only the newest thousand matches', async () => {
      const texts = Array.from({ length: 1010 }, (_, index) =>
        textSaid(index < 10 ? 'word word word' : `word ${index}`),
      )
      await mustCreate(store(), sessionOf(1, ...texts))
      await vi.waitFor(async () => expect((await find(store(), '1009')).hits).toHaveLength(1), { timeout: 10_000 })
      const messages: number[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await find(store(), 'word', { limit: 300, cursor })
        messages.push(...page.hits.map(({ message }) => message))
        if (page.next === null) break
        cursor = page.next
      }
      expect([messages.length, new Set(messages).size, Math.min(...messages)]).toEqual([1000, 1000, 11])
    })

    it('shows an excerpt on one line without control characters', async () => {
      const long = `${'before '.repeat(60)}\n\u001b[31mNEEDLE\u0000\u202e 🙂\tand ${'after '.repeat(60)}`
      await mustCreate(store(), sessionOf(1, textSaid(long), textSaid(`${'é'.repeat(300)} needle`)))
      for (const { snippet } of (await find(store(), 'needle')).hits) {
        expect(snippet).toMatch(/needle/i)
        expect(snippet).not.toMatch(/[\p{Cc}\u202e]/u)
        expect(snippet.length).toBeLessThanOrEqual(162)
        expect(snippet.isWellFormed()).toBe(true)
      }
    })

    it.each([
      '"unbalanced',
      'word"',
      'a AND b OR NOT c NEAR(d, 2)',
      '(((',
      'text : word',
      '^word -word +word {x}',
      "'; drop table search; --",
      'word\u0000word',
      '\ud800word\udfff',
      '%_word_%',
      'w*rd *** **',
      ':ruser',
      'x '.repeat(500),
      '語'.repeat(1000),
      `"${'x '.repeat(490)}"`,
      '_ __',
    ])('treats %j as plain words', async (text) => {
      await mustCreate(store(), sessionOf(1, textSaid('word')))
      expect(codeOf(await store().search({ text, limit: 5 }))).toMatch(/^(ok|bad_request)$/)
      expect(await matches(store(), 'word')).toEqual(['1/1'])
    })

    it('refuses a query without words, a one-letter prefix and a foreign cursor', async () => {
      const refused = async (text: string, cursor?: string) => codeOf(await store().search({ text, limit: 5, cursor }))
      expect(await Promise.all(['', ' ', '"" *', '…!?', '🙂', '_', 'a*'].map((text) => refused(text)))).toEqual(
        Array.from({ length: 7 }, () => 'bad_request'),
      )
      for (const cursor of ['x', '1.2', '..', '1.2.3.4', '-.1.-', '9'.repeat(40)]) {
        expect([cursor, await refused('word', cursor)]).toEqual([cursor, 'bad_request'])
      }
    })

    it('treats filter words in the query as text', async () => {
      await mustCreate(store(), sessionOf(1, textSaid(':ruser :y2026 user tool')))
      expect(await matches(store(), 'user', { role: 'user' })).toEqual([])
      expect(await matches(store(), 'user', { role: 'assistant' })).toEqual(['1/1'])
    })
  })
}
