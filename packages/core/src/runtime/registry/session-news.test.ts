import { SessionId, type SessionNews } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createSessionNewsFeed } from './session-news.ts'

const stopped = (number: number): SessionNews => ({
  type: 'session.stopped',
  session: SessionId.parse(`ses_0${String(number).padStart(25, '0')}`),
  reason: 'stopped',
})

describe('the news of all sessions', () => {
  it('reach every follower in order', async () => {
    const news = createSessionNewsFeed()
    const [first, second] = [news.follow(), news.follow()].map((followed) => followed[Symbol.asyncIterator]())
    const received = [first?.next(), second?.next()]
    news.publish(stopped(1))
    news.publish(stopped(2))
    expect((await received[0])?.value).toEqual(stopped(1))
    expect((await received[1])?.value).toEqual(stopped(1))
    expect((await first?.next())?.value).toEqual(stopped(2))
  })

  it('end when the follower leaves', async () => {
    const leaving = new AbortController()
    const followed = createSessionNewsFeed().follow(leaving.signal)[Symbol.asyncIterator]()
    const next = followed.next()
    leaving.abort()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  it('keep only the newest entry of a session for a slow reader', async () => {
    const news = createSessionNewsFeed()
    const followed = news.follow()[Symbol.asyncIterator]()
    const first = followed.next()
    for (let index = 0; index < 1000; index++) news.publish(stopped(7))
    news.publish(stopped(8))
    expect((await first).value).toEqual(stopped(7))
    expect((await followed.next()).value).toEqual(stopped(8))
  })
})
