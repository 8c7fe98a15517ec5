import { z } from 'zod'
import { SessionId } from '../value/id.ts'
import { Meta } from '../view/meta.ts'

/** Why a session is no longer awake. */
export const StopReason = z.enum(['stopped', 'closing', 'crashed', 'restart_exhausted'])
export type StopReason = z.infer<typeof StopReason>

/** What becomes of the sessions of a place, for whoever follows them all. */
export const SessionNews = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.started'), session: Meta }),
  z.object({ type: z.literal('session.changed'), session: Meta }),
  z.object({
    type: z.literal('session.stopped'),
    session: SessionId,
    reason: StopReason,
    /** What went wrong first, where something did. */
    cause: z.string().optional(),
  }),
  /** It was put into the trash, or is gone for good: no list holds it any more. */
  z.object({ type: z.literal('session.removed'), session: SessionId }),
  /** It was taken out of the trash. */
  z.object({ type: z.literal('session.restored'), session: Meta }),
])
export type SessionNews = z.infer<typeof SessionNews>

/** Which session news are about. */
export const newsSession = (news: SessionNews): SessionId =>
  typeof news.session === 'string' ? news.session : news.session.id

/** The last word of a stream of news. Whoever comes back lists the sessions again: news that were missed are not told twice. */
export const NewsEnd = z.object({
  type: z.literal('end'),
  reason: z.enum(['slow', 'closing', 'failed']),
  retryMs: z.int().min(0),
})

/** What a stream of news carries. */
export const NewsFrame = z.discriminatedUnion('type', [...SessionNews.options, NewsEnd])
export type NewsFrame = z.infer<typeof NewsFrame>
