import { encodeNews, type NewsFrame, ok, type Sessions } from '@holdfast/protocol'
import { z } from 'zod'
import { answerEventStream, comeBackMs, openEventStream } from '../http/event-stream.ts'
import { defineRoute } from '../http/route.ts'

const end = (reason: 'slow' | 'closing' | 'failed'): NewsFrame => ({ type: 'end', reason, retryMs: comeBackMs })

export const getNews = defineRoute({
  method: 'GET',
  path: '/v1/events',
  access: 'token',
  summary: 'Follow all sessions: started, changed, stopped, as server-sent events',
  answers: { status: 200, mediaType: 'text/event-stream', schema: z.string() },
  async handle(_, { sessions, closing, heartbeatMs, onProblem }) {
    const body = openEventStream<NewsFrame>({
      name: 'all sessions',
      follow: (gone) => newsOf(sessions, gone),
      encode: encodeNews,
      endings: [{ when: closing, last: end('closing') }],
      failed: end('failed'),
      heartbeatMs,
      onProblem,
    })
    return ok(answerEventStream(body))
  },
})

/** News end by themselves only for one who reads so slowly that too much waits. */
async function* newsOf(sessions: Sessions, gone: AbortSignal): AsyncGenerator<NewsFrame> {
  yield* sessions.subscribe({ signal: gone })
  if (!gone.aborted) yield end('slow')
}
