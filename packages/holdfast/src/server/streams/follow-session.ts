import type { LocalSessions } from '@holdfast/core'
import { type ClientId, type Frame, type FrameOf, ok, type Result, type Seq, type SessionId } from '@holdfast/protocol'
import { captureBearer, keepBearer } from '../../nodes/carried-bearer.ts'
import type { Caller } from '../auth/access.ts'
import { type Attachments, authorityOf, readRole } from './attachments.ts'
import type { Outbox } from './outbox.ts'

/** The session that a client follows, from which record on, and in which role. */
export type FollowRequest = {
  readonly session: string
  readonly after?: Seq | undefined
  readonly attachment?: ClientId | undefined
  readonly role?: string | undefined
  readonly children?: boolean | undefined
}

/** A session that is ready to be followed. */
export type Following = {
  readonly id: SessionId
  /** The cursor of the client; undefined if it begins with a snapshot. */
  readonly after: Seq | undefined
  /** Call when the first frame came or the stream is over: others wait for the place. */
  readonly began: () => void
  /** Aborts when the client leaves; null for a client without a name. */
  readonly left: AbortSignal | null
  /** Gives up a session whose frames are not read. */
  readonly abandon: () => void
  /**
   * Yields the frames. Aborting the signal gives up the attachment of the stream. A client that reads slowly continues from the
   * log; if a cursor is given, its frames end with `slow` instead, to be followed again from there.
   */
  readonly frames: (gone: AbortSignal, from?: { readonly cursor: Seq | undefined }) => AsyncIterable<Frame>
  readonly end: (reason: FrameOf<'end'>['reason'], retryMs: number | null) => Frame
}

type FollowDeps = { readonly sessions: LocalSessions; readonly attachments: Attachments; readonly outbox: Outbox }

/** Attaches a client that wants to follow a session. Refused: as `open` refuses, invalid_role, foreign_attachment, server_busy. */
export async function openFollowing(
  { session, after, attachment: client, role, children }: FollowRequest,
  caller: Caller | null,
  { sessions, attachments, outbox }: FollowDeps,
): Promise<Result<Following>> {
  const asked = readRole(role)
  if (!asked.ok) return asked
  const handle = await sessions.open(session)
  if (!handle.ok) return handle
  const { id } = handle.value
  const withCaller = captureBearer()
  const place = await outbox.enter('stream')
  if (!place.ok) return place
  // After the last `await`: another caller may have attached under this name while this one waited.
  const joined = client === undefined ? ok(null) : attachments.stream(id, client, caller)
  if (!joined.ok) {
    place.value()
    return joined
  }
  const stream = joined.value
  let leavePlace: (() => void) | null = place.value
  let isWatched = false
  const began = () => {
    leavePlace?.()
    leavePlace = null
  }
  return ok({
    id,
    after,
    began,
    abandon() {
      began()
      stream?.end()
    },
    left: stream?.left ?? null,
    end: (reason, retryMs) => ({ type: 'end', sessionId: id, reason, retryMs }),
    frames(gone, from) {
      const first = from ? from.cursor : after
      if (!isWatched) gone.addEventListener('abort', () => stream?.end(), { once: true })
      isWatched = true // a slow client's frames are asked for again
      const followed = handle.value.subscribe({
        after: first,
        endsWhenSlow: from !== undefined,
        client,
        children,
        caller: authorityOf(caller),
        signal: gone,
        role: caller?.role === 'viewer' ? 'viewer' : asked.value, // a viewer token must not block the driver role
      })
      const frames = keepBearer(followed, withCaller)
      // Records after a cursor are read for this client alone; the frames that follow are shared.
      return first === undefined ? frames : outbox.readInSlices(frames, gone, ({ type }) => type !== 'record')
    },
  })
}
