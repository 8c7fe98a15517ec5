import { encodeNews, type NewsFrame, type SessionNews } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import type { FollowNewsOptions } from './follow-news.ts'
import { createScriptedServer, fails, type Reply, refused, streams } from './testing/scripted-server.ts'
import { meta } from './testing/story.ts'

const changed = (title: string): SessionNews => ({ type: 'session.changed', session: { ...meta, title } })
const told = (...news: readonly NewsFrame[]) => news.map((one) => new TextDecoder().decode(encodeNews(one)))

async function run(script: readonly Reply[], count: number, options: FollowNewsOptions = {}) {
  const server = createScriptedServer(script)
  const states: Connection[] = []
  const heard: unknown[] = []
  for await (const news of server.sessions.subscribe({ ...options, onConnection: (state) => states.push(state) })) {
    heard.push('reason' in news ? news.reason : typeof news.session === 'string' ? news.type : news.session.title)
    if (heard.length === count) break
  }
  return { heard, states: states.map(({ state }) => state), waits: server.waits, asked: server.asked }
}

describe('following all sessions', () => {
  it('goes on after a break, and says each time that it is live, for a list to be asked for again', async () => {
    const stopped: SessionNews = { type: 'session.stopped', session: meta.id, reason: 'crashed', cause: 'a bug' }
    const script = [streams(told(changed('a'), stopped), 'breaks'), refused, streams(told(changed('b')), 'stays')]
    const { heard, states, asked } = await run(script, 3)
    expect(heard).toEqual(['a', 'crashed', 'b'])
    expect(states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'waiting', 'connecting', 'live'])
    expect(asked.map(({ path }) => path)).toEqual(['/v1/events', '/v1/events', '/v1/events'])
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer token-1')
  })

  it('comes back when the server said', async () => {
    const script = [
      streams(told(changed('a'), { type: 'end', reason: 'slow', retryMs: 1234 }), 'stays'),
      streams(told(changed('b')), 'stays'),
    ]
    const { heard, waits } = await run(script, 2)
    expect([heard, waits]).toEqual([['a', 'b'], [1234]])
  })

  it('passes over news of a later day, and hangs up when nobody listens any more', async () => {
    const later = 'event: session.sang\ndata: {"type":"session.sang"}\n\n'
    const { heard, asked } = await run([streams([later, ...told(changed('a'))], 'stays')], 1)
    expect(heard).toEqual(['a'])
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it('throws what the server refuses for good', async () => {
    await expect(run([fails('unauthorized', 401)], 1)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('ends when it is told to', async () => {
    expect((await run([], 1, { signal: AbortSignal.abort() })).heard).toEqual([])
  })
})
