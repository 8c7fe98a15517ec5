import type { ListOptions, Meta, Result, SessionList, SessionNews } from '@holdfast/protocol'
import { fault, ok, refuse } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { type ListFilter, noFilter } from './list-filter.ts'
import { createSessionPages, type LoadedSessions, nothingLoaded } from './session-pages.ts'

const idOf = (number: number) => `ses_0${String(number).padStart(25, '0')}`

/** The higher its number, the newer a session. */
const session = (number: number, more: Partial<Meta> = {}): Meta =>
  aMeta({
    id: idOf(number),
    title: `session ${number}`,
    messageCount: 1,
    lastMessageAt: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    ...more,
  })
const changed = (meta: Meta): SessionNews => ({ type: 'session.changed', session: meta })

/** A server with sessions 1 to `count`, newest first. A cursor is the number of the last session of a page. */
function openPages(count: number, filter: ListFilter = noFilter) {
  const asked: ListOptions[] = []
  const removed = new Set<string>()
  let isAway = false
  let loaded: LoadedSessions = nothingLoaded
  const list = async (options: ListOptions): Promise<Result<SessionList>> => {
    asked.push(options)
    if (isAway) return refuse(fault('unreachable', 'The server is away.'))
    const from = options.cursor === undefined ? count : Number(options.cursor) - 1
    const size = Math.min(options.limit ?? 50, from)
    const sessions = Array.from({ length: size }, (_, index) => session(from - index))
    const next = from - size > 0 ? String(from - size + 1) : null
    return ok({ sessions: sessions.filter(({ id }) => !removed.has(id)), next })
  }
  const look = async (name: string): Promise<Result<Meta>> =>
    removed.has(name) ? refuse(fault('session_not_found', 'It is gone.')) : ok(session(Number(name.slice(4))))
  const onChange = (now: LoadedSessions) => {
    loaded = now
  }
  const pages = createSessionPages({ list, look, onChange }, filter)
  return {
    pages,
    asked,
    removed,
    setAway(away: boolean) {
      isAway = away
    },
    now: () => loaded,
    numbers: () => loaded.sessions.map(({ id }) => Number(id.slice(4))),
  }
}

describe('the pages of the list', () => {
  it('are loaded by cursor, 100 sessions each', async () => {
    const { pages, asked, now, numbers } = openPages(250)
    await pages.reload()
    expect([now().sessions.length, now().hasMore]).toEqual([100, true])
    await pages.loadMore()
    await pages.loadMore()
    expect(numbers()).toEqual(Array.from({ length: 250 }, (_, index) => 250 - index))
    expect(now().hasMore).toBe(false)
    expect(asked.map(({ limit, cursor }) => [limit, cursor])).toEqual([
      [100, undefined],
      [100, '151'],
      [100, '51'],
    ])
  })

  it('stay few in a list of 100,000 sessions, and those above come back', async () => {
    const { pages, now, numbers } = openPages(100_000)
    await pages.reload()
    for (let count = 0; count < 60; count++) await pages.loadMore()
    expect([now().sessions.length, now().hasEarlier]).toEqual([2000, true])
    const first = numbers()[0] ?? 0
    await pages.loadEarlier()
    expect([now().sessions.length, numbers()[0]]).toEqual([2000, first + 100])
    await pages.toTop()
    expect([numbers()[0], now().sessions.length, now().hasEarlier]).toEqual([100_000, 100, false])
  })

  it('change in place by news, without another request', async () => {
    const { pages, asked, now, numbers } = openPages(250)
    await pages.reload()
    pages.onNews(changed(session(200, { title: 'renamed' })))
    expect(now().sessions[50]?.title).toBe('renamed')
    pages.onNews(changed(session(180, { pinned: true })))
    pages.onNews(changed({ ...session(190), lastMessageAt: '2027-01-01T00:00:00.000Z' }))
    pages.onNews({ type: 'session.started', session: session(251) })
    expect(numbers().slice(0, 4)).toEqual([180, 190, 251, 250])
    pages.onNews({ type: 'session.removed', session: session(250).id })
    expect(numbers().slice(0, 4)).toEqual([180, 190, 251, 249])
    expect(asked).toHaveLength(1)
  })

  it('leave out what is below them, and what their filter excludes', async () => {
    const running = openPages(150, { ...noFilter, isRunning: true })
    await running.pages.reload()
    running.pages.onNews(changed(session(10, { status: 'thinking' }))) // below: more is not loaded
    expect(running.numbers()).not.toContain(10)
    running.pages.onNews(changed(session(151, { status: 'thinking' })))
    running.pages.onNews(changed(session(152)))
    expect(running.numbers()[0]).toBe(151)
    running.pages.onNews(changed(session(151)))
    expect(running.numbers()).not.toContain(151)
  })

  it('look at a session that stopped', async () => {
    const { pages, now, numbers, removed } = openPages(3)
    await pages.reload()
    pages.onNews(changed(session(2, { status: 'thinking' })))
    pages.onNews({ type: 'session.stopped', session: session(2).id, reason: 'stopped' })
    await expect.poll(() => now().sessions[1]?.status).toBe('idle')
    removed.add(session(3).id)
    pages.onNews({ type: 'session.stopped', session: session(3).id, reason: 'stopped' })
    await expect.poll(numbers).toEqual([2, 1])
  })

  it('stay without a session that was removed while it was looked at', async () => {
    const { pages, numbers } = openPages(3)
    await pages.reload()
    pages.onNews({ type: 'session.stopped', session: session(2).id, reason: 'stopped' })
    pages.onNews({ type: 'session.removed', session: session(2).id })
    await pages.loadMore()
    expect(numbers()).toEqual([3, 1])
  })

  it('keep news that arrives during a load', async () => {
    const { pages, numbers } = openPages(3)
    const load = pages.reload()
    pages.onNews({ type: 'session.started', session: session(4) })
    await load
    expect(numbers()).toEqual([4, 3, 2, 1])
  })

  it('stay when the server is away, and load all again when it is back', async () => {
    const { pages, now, numbers, setAway, removed } = openPages(250)
    await pages.reload()
    await pages.loadMore()
    setAway(true)
    await pages.reload()
    expect([now().fault?.code, now().sessions.length]).toEqual(['unreachable', 200])
    setAway(false)
    removed.add(session(240).id)
    await pages.reload()
    expect(now().fault).toBeNull()
    expect(numbers()).toHaveLength(199)
  })
})
