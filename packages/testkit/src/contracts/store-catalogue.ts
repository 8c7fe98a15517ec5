import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  entryOf,
  handleOf,
  key,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  readAll,
  sessionId,
  useStore,
} from './store-fixture.ts'

/** Describes the catalogue: it changes with the log, is ordered, and finds sessions by all their names. */
export function describeCatalogue(open: OpenStore): void {
  const store = useStore(open)
  const listed = async (request: Partial<Parameters<ReturnType<typeof store>['list']>[0]> = {}) => {
    const page = await store().list({ limit: 100, ...request })
    return { ids: page.sessions.map(({ meta }) => meta.id), next: page.next }
  }

  describe('catalogue', () => {
    it('changes with the append', async () => {
      await mustCreate(store(), newSession(1))
      const entry = entryOf(1, { busy: true, activeAt: 77, meta: { title: 'New', messageCount: 2, pinned: true } })
      await mustAppend(store(), appendTo(1, 1, { entry }))
      expect(await store().entry(sessionId(1))).toStrictEqual({
        entry,
        head: 2,
        base: 0,
        owner: 'node-a',
        trashedAt: null,
      })
    })

    it('stays unchanged when the append is refused', async () => {
      await mustCreate(store(), newSession(1))
      const before = await store().entry(sessionId(1))
      const entry = entryOf(1, { busy: true, activeAt: 77, meta: { title: 'New' } })
      expect(codeOf(await store().append(appendTo(1, 0, { entry })))).toBe('log_moved')
      expect(codeOf(await store().append(appendTo(1, 1, { entry, epoch: 2 })))).toBe('fenced')
      expect(await store().entry(sessionId(1))).toStrictEqual(before)
    })

    it('has no row for a missing session', async () => {
      expect(await store().entry(sessionId(9))).toBeNull()
    })

    it('lists the newest activity first, then the youngest session', async () => {
      const born = (number: number, activeAt: number) => newSession(number, { entry: entryOf(number, { activeAt }) })
      await mustCreate(store(), born(1, 50), born(2, 70), born(3, 50), born(4, 60))
      expect(await listed()).toEqual({ ids: [2, 4, 3, 1].map(sessionId), next: null })
    })

    it('pages by cursor, each session once', async () => {
      const entry = (number: number) => entryOf(number, { activeAt: Math.floor(number / 2) })
      const numbers = [1, 2, 3, 4, 5, 6, 7]
      await mustCreate(store(), ...numbers.map((number) => newSession(number, { entry: entry(number) })))
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await listed({ limit: 3, cursor })
        seen.push(...page.ids)
        cursor = page.next ?? undefined
      } while (cursor !== undefined && seen.length < 20)
      expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map(sessionId))
    })

    it('refuses a foreign cursor', async () => {
      await expect(listed({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'bad_request' })
    })

    it('lists only one workspace', async () => {
      const there = entryOf(2, { meta: { workspace: '/elsewhere' } })
      await mustCreate(store(), newSession(1), newSession(2, { entry: there }))
      expect((await listed({ workspace: '/elsewhere' })).ids).toEqual([sessionId(2)])
      expect((await listed({ workspace: '/' })).ids).toEqual([])
    })

    it('lists a session only after its first message', async () => {
      await mustCreate(store(), newSession(1, { entry: entryOf(1, { spoken: false }) }))
      expect((await listed()).ids).toEqual([])
      await mustAppend(store(), appendTo(1, 1, { entry: entryOf(1, { spoken: true }) }))
      expect((await listed()).ids).toEqual([sessionId(1)])
    })

    it('shows the owner of a session and whether it is busy', async () => {
      await mustCreate(store(), newSession(1, { entry: entryOf(1, { busy: true }) }), newSession(2))
      const { sessions } = await store().list({ limit: 9 })
      expect(sessions.map(({ busy, owner }) => ({ busy, owner }))).toEqual([
        { busy: false, owner: 'node-a' },
        { busy: true, owner: 'node-a' },
      ])
      expect(await store().busy()).toEqual([{ session: sessionId(1), owner: 'node-a' }])
    })

    it('searches title, preview and recent text for every word, taken literally', async () => {
      const about = (number: number, meta: object) => newSession(number, { entry: entryOf(number, { meta }) })
      await mustCreate(
        store(),
        about(1, { title: 'Fix the Harbour' }),
        about(2, { preview: 'a harbour, fixed' }),
        about(3, { recentText: '100% of ÉTÉ_x' }),
      )
      expect((await listed({ search: 'harbour' })).ids).toEqual([2, 1].map(sessionId))
      expect((await listed({ search: 'the  HARBOUR' })).ids).toEqual([sessionId(1)])
      expect((await listed({ search: '0% été_' })).ids).toEqual([sessionId(3)])
      expect((await listed({ search: '%' })).ids).toEqual([sessionId(3)])
      expect((await listed({ search: 'h_rbour' })).ids).toEqual([])
    })

    it('pages through search results', async () => {
      const about = (number: number) =>
        newSession(number, { entry: entryOf(number, { meta: { title: number % 2 === 0 ? 'even' : 'odd' } }) })
      await mustCreate(store(), ...[1, 2, 3, 4, 5, 6].map(about))
      const first = await listed({ search: 'even', limit: 2 })
      expect(first.ids).toEqual([6, 4].map(sessionId))
      expect(await listed({ search: 'even', limit: 2, cursor: first.next ?? '' })).toEqual({
        ids: [sessionId(2)],
        next: null,
      })
    })

    it('finds a session by each of its names', async () => {
      const entry = entryOf(1, { meta: { key: key('telegram:42') } })
      await mustCreate(store(), newSession(1, { entry }), newSession(2), newSession(31), newSession(32))
      const find = store().find
      expect(await find({ type: 'id', id: sessionId(1) })).toEqual([sessionId(1)])
      expect(await find({ type: 'id', id: sessionId(9) })).toEqual([])
      expect(await find({ type: 'handle', handle: handleOf(2) })).toEqual([sessionId(2)])
      expect(await find({ type: 'handle', handle: handleOf(3) })).toEqual([])
      expect(await find({ type: 'key', key: key('telegram:42') })).toEqual([sessionId(1)])
      expect(await find({ type: 'key', key: key('telegram:43') })).toEqual([])
      const prefix = sessionId(31).slice(0, -1)
      expect(await find({ type: 'prefix', prefix })).toEqual([31, 32].map(sessionId))
      expect(await find({ type: 'prefix', prefix: sessionId(31) })).toEqual([sessionId(31)])
      expect(await find({ type: 'prefix', prefix: 'ses_7' })).toEqual([])
    })

    it('finds the latest session of a workspace, but no empty one', async () => {
      await mustCreate(
        store(),
        newSession(1, { entry: entryOf(1, { activeAt: 20 }) }),
        newSession(2, { entry: entryOf(2, { activeAt: 10 }) }),
        newSession(3, { entry: entryOf(3, { activeAt: 30, spoken: false }) }),
        newSession(4, { entry: entryOf(4, { activeAt: 40, meta: { workspace: '/elsewhere' } }) }),
      )
      expect(await store().find({ type: 'latest', workspace: '/work' })).toEqual([sessionId(1)])
      expect(await store().find({ type: 'latest', workspace: '/nowhere' })).toEqual([])
    })

    it('refuses a taken handle or key, and stores nothing of the session', async () => {
      const named = (number: number, meta: object) => newSession(number, { entry: entryOf(number, { meta }) })
      await mustCreate(store(), named(1, { key: key('k') }))
      expect(codeOf(await store().create(named(2, { handle: handleOf(1) })))).toBe('handle_taken')
      expect(codeOf(await store().create(named(2, { key: key('k') })))).toBe('key_taken')
      expect(await readAll(store(), 2)).toEqual([])
      await mustCreate(store(), named(2, { key: key('other') }))
    })

    it('removes empty sessions of the given owners or of none', async () => {
      const unspoken = (number: number, owner: string) =>
        newSession(number, { owner, entry: entryOf(number, { spoken: false }) })
      await mustCreate(store(), unspoken(1, 'dead'), unspoken(2, 'alive'), unspoken(3, 'gone'))
      await mustCreate(store(), newSession(4, { owner: 'dead' }))
      await store().release(sessionId(3), 'gone', 1)
      expect(await store().removeUnspoken(['dead'])).toBe(2)
      const left = await Promise.all([1, 2, 3, 4].map(async (number) => (await store().entry(sessionId(number)))?.head))
      expect(left).toEqual([undefined, 1, undefined, 1])
      expect(codeOf(await store().append(appendTo(1, 1)))).toBe('session_not_found')
    })

    it('keeps a session that a fork shares, even an empty one', async () => {
      await mustCreate(store(), newSession(1, { entry: entryOf(1, { spoken: false }) }))
      await mustCreate(store(), newSession(2, { parent: sessionId(1), base: 1 }))
      expect(await store().removeUnspoken(['node-a'])).toBe(0)
      expect((await readAll(store(), 2)).length).toBe(2)
    })

    it('frees the names of a removed empty session', async () => {
      await mustCreate(store(), newSession(1, { entry: entryOf(1, { spoken: false }) }))
      await store().removeUnspoken(['node-a'])
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1))
      expect((await readAll(store(), 1)).length).toBe(2)
    })

    it('removes a session and frees its names', async () => {
      await mustCreate(store(), newSession(1, { entry: entryOf(1, { meta: { key: key('k') } }) }), newSession(2))
      expect(codeOf(await store().purge(sessionId(1)))).toBe('session_locked')
      for (const number of [1, 2]) await store().release(sessionId(number), 'node-a', 1)
      expect(codeOf(await store().purge(sessionId(1)))).toBe('ok')
      expect(codeOf(await store().purge(sessionId(1)))).toBe('session_not_found')
      expect(await store().entry(sessionId(1))).toBeNull()
      expect(await readAll(store(), 1)).toEqual([])
      expect((await store().list({ limit: 10 })).sessions.map(({ meta }) => meta.id)).toEqual([sessionId(2)])
      expect(codeOf(await store().claim(sessionId(1), 'node-b', null))).toBe('session_not_found')
      await mustCreate(store(), newSession(3, { entry: entryOf(3, { meta: { key: key('k'), handle: handleOf(1) } }) }))
    })

    it('keeps the shared past of forks when the session is removed', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1))
      await mustAppend(store(), appendTo(1, 2))
      await mustCreate(store(), newSession(2, { parent: sessionId(1), base: 2 }))
      await mustCreate(store(), newSession(3, { parent: sessionId(2), base: 3 }))
      const before = [await readAll(store(), 2), await readAll(store(), 3)]
      expect(before.map(({ length }) => length)).toEqual([3, 4])
      for (const number of [1, 2, 3]) await store().release(sessionId(number), 'node-a', 1)
      await store().purge(sessionId(1))
      expect([await readAll(store(), 2), await readAll(store(), 3)]).toEqual(before)
      await store().purge(sessionId(2))
      expect(await readAll(store(), 3)).toEqual(before[1])
      expect(await store().find({ type: 'prefix', prefix: 'ses_' })).toEqual([sessionId(3)])
      await store().purge(sessionId(3))
      await mustCreate(store(), newSession(1))
      expect((await readAll(store(), 1)).length).toBe(1)
    })
  })
}
