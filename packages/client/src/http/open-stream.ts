import type { Frame, SessionId } from '@holdfast/protocol'
import type { Http } from './http.ts'
import type { Inbox } from './inbox.ts'

/** An open connection of several sessions. They are added to it and dropped by its id. */
export type OpenStream = {
  readonly id: string
  /** What waits for the reader of each followed session. */
  readonly inboxes: Map<SessionId, Inbox<Frame>>
  /** Sessions that were dropped, until their last frame has come. */
  readonly leaving: Map<SessionId, PromiseWithResolvers<void>>
  /** Gives a frame to the reader of its session. */
  take(frame: Frame): void
  /** Drops a session from the connection. Its last frame says when it can be followed again. */
  drop(session: SessionId): void
  dropAll(): void
  /** Ends the inboxes of all sessions, because the connection is over. */
  close(): void
}

export function createOpenStream(wire: Http, id: string): OpenStream {
  const inboxes: OpenStream['inboxes'] = new Map()
  const leaving: OpenStream['leaving'] = new Map()
  const drop = (session: SessionId) => {
    const inbox = inboxes.get(session)
    if (!inbox) return
    inboxes.delete(session)
    inbox.close()
    const left = Promise.withResolvers<void>()
    leaving.set(session, left)
    void wire.json(`/v1/stream/${id}/unfollow`, { body: { session } }).then((answer) => {
      if (!answer.ok) left.resolve()
      if (!answer.ok && leaving.get(session) === left) leaving.delete(session)
    })
  }
  return {
    id,
    inboxes,
    leaving,
    drop,
    take(frame) {
      const session = frame.sessionId
      const inbox = inboxes.get(session)
      const isTaken = inbox?.push(frame) ?? true
      if (frame.type === 'end') {
        leaving.get(session)?.resolve()
        leaving.delete(session)
        inboxes.delete(session)
        inbox?.close()
      } else if (!isTaken) drop(session) // the reader is too slow; it follows again from its cursor
    },
    dropAll() {
      for (const session of [...inboxes.keys()]) drop(session)
    },
    close() {
      for (const inbox of inboxes.values()) inbox.close()
      for (const { resolve } of leaving.values()) resolve()
      inboxes.clear()
      leaving.clear()
    },
  }
}
