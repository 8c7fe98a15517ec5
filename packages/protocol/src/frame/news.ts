import { z } from 'zod'
import { SessionId } from '../value/id.ts'
import { Meta } from '../view/meta.ts'

/** Why a session stopped. */
export const StopReason = z.enum(['stopped', 'closing', 'crashed', 'restart_exhausted', 'taken_over'])
export type StopReason = z.infer<typeof StopReason>

/** A change of any session, for clients that follow all of them. */
export const SessionNews = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.started'), session: Meta }),
  z.object({ type: z.literal('session.changed'), session: Meta }),
  z.object({
    type: z.literal('session.stopped'),
    session: SessionId,
    reason: StopReason,
    /** The first error, if there was one. */
    cause: z.string().optional(),
  }),
  /** It was trashed or deleted. */
  z.object({ type: z.literal('session.removed'), session: SessionId }),
  /** It was taken out of the trash. */
  z.object({ type: z.literal('session.restored'), session: Meta }),
])
export type SessionNews = z.infer<typeof SessionNews>

/** Returns the session the news is about. */
export const newsSession = (news: SessionNews): SessionId =>
  typeof news.session === 'string' ? news.session : news.session.id

/** Ends a news stream. After reconnecting, list the sessions again: missed news is not resent. */
const NewsEnd = z.object({
  type: z.literal('end'),
  reason: z.enum(['slow', 'closing', 'failed', 'revoked']),
  /** When to reconnect; null for never. */
  retryMs: z.int().min(0).nullable(),
})

/** One item of the news stream. */
export const NewsFrame = z.discriminatedUnion('type', [...SessionNews.options, NewsEnd])
export type NewsFrame = z.infer<typeof NewsFrame>
