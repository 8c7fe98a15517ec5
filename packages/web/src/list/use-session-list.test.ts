import type { Meta, SessionNews } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { addNews, needsLook } from './use-session-list.ts'

const session = (number: number, minute: number, more: Parameters<typeof aMeta>[0] = {}): Meta =>
  aMeta({
    id: `ses_0${String(number).padStart(25, '0')}`,
    title: `session ${number}`,
    lastMessageAt: `2026-03-12T12:0${minute}:00.000Z`,
    messageCount: 1,
    ...more,
  })
const changed = (session: Meta): SessionNews => ({ type: 'session.changed', session })
const titles = (listed: readonly Meta[]) => listed.map(({ title, status }) => `${title} ${status}`)

describe('news in the list', () => {
  const listed = [session(2, 2), session(1, 1)]

  it('updates a session in place', () => {
    expect(titles(addNews(listed, changed(session(1, 1, { status: 'thinking' })), true))).toEqual([
      'session 2 idle',
      'session 1 thinking',
    ])
  })

  it('moves the session with the latest message to the top', () => {
    expect(titles(addNews(listed, changed(session(1, 3)), true))).toEqual(['session 1 idle', 'session 2 idle'])
  })

  it('adds a new session with its first message', () => {
    const silent: SessionNews = { type: 'session.started', session: session(3, 3, { messageCount: 0 }) }
    expect(addNews(listed, silent, true)).toBe(listed)
    expect(titles(addNews(listed, changed(session(3, 3)), true))[0]).toBe('session 3 idle')
  })

  it('adds nothing to search results; they are loaded again', () => {
    const news = changed(session(3, 3))
    expect(addNews(listed, news, false)).toBe(listed)
    expect([needsLook(listed, news, false), needsLook(listed, news, true)]).toEqual([true, false])
    const known = changed(session(1, 1, { status: 'thinking' }))
    expect(titles(addNews(listed, known, false))[1]).toBe('session 1 thinking')
    expect(needsLook(listed, known, false)).toBe(false)
  })

  it('removes a trashed session, and adds a restored one', () => {
    const gone = addNews(listed, { type: 'session.removed', session: session(2, 2).id }, true)
    expect(titles(gone)).toEqual(['session 1 idle'])
    expect(needsLook(listed, { type: 'session.removed', session: session(2, 2).id }, false)).toBe(false)
    expect(addNews(gone, { type: 'session.removed', session: session(2, 2).id }, true)).toBe(gone)
    const back = addNews(gone, { type: 'session.restored', session: session(2, 2) }, true)
    expect(titles(back)).toEqual(['session 2 idle', 'session 1 idle'])
  })

  it('moves a pinned session to the top', () => {
    const pinned = addNews(listed, changed(session(1, 1, { pinned: true })), true)
    expect(titles(pinned)).toEqual(['session 1 idle', 'session 2 idle'])
    expect(titles(addNews(pinned, changed(session(3, 3)), true))[0]).toBe('session 1 idle')
  })

  it('loads the list again after a session stopped', () => {
    const news: SessionNews = { type: 'session.stopped', session: session(1, 1).id, reason: 'crashed' }
    expect(addNews(listed, news, true)).toBe(listed)
    expect(needsLook(listed, news, true)).toBe(true)
  })
})
