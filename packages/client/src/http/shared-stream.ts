import {
  type Fault,
  type Frame,
  HoldfastError,
  limits,
  type NewsFrame,
  type SessionId,
  type SessionNews,
  type StreamStarted,
} from '@holdfast/protocol'
import { decodeShared, type SharedFrame } from './decode-stream.ts'
import { type Connection, followStream } from './follow-stream.ts'
import type { Http } from './http.ts'
import { createInbox, type Inbox } from './inbox.ts'

/** An open connection. Sessions are added to it and dropped by its id. */
export type OpenStream = {
  readonly id: string
  /** What waits for the reader of each followed session. */
  readonly inboxes: Map<SessionId, Inbox<Frame>>
  /** Sessions that were dropped, until their last frame has come. */
  readonly leaving: Map<SessionId, PromiseWithResolvers<void>>
}

/** A user of the connection: a reader of the news, or of one session. */
export type StreamUser = {
  readonly reads: 'news' | 'session'
  readonly onConnection: (connection: Connection) => void
  /** Called once per followed session before a rest, to keep its attachment. */
  readonly keepSeat?: () => Promise<void>
  /** Gives up an attachment that was kept. */
  readonly leaveSeat?: () => void
}

/** One connection that carries the news and every session that a client follows: browsers allow six for a server. */
export type SharedStream = ReturnType<typeof createSharedStream>

type Rest = { readonly keepsNews: boolean } | null

/** Creates the connection of a client. It is open while someone uses it and it does not rest. */
export function createSharedStream(wire: Http) {
  const users = new Set<StreamUser>()
  const newsInboxes = new Set<Inbox<SessionNews>>()
  let running: AbortController | null = null
  let open: OpenStream | null = null
  let refused: Fault | null = null
  let rest: Rest = null
  /** Those whose attachment is kept: it lasts longer than their stream. */
  const kept = new Set<StreamUser>()
  let restAsked = 0
  let changed = Promise.withResolvers<void>()

  const tell = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const report = (connection: Connection) => {
    for (const { reads, onConnection } of [...users])
      if (connection.state !== 'live' || reads === 'news') onConnection(connection)
  }
  const lose = () => {
    const lost = open
    open = null
    for (const inbox of lost?.inboxes.values() ?? []) inbox.close()
    for (const { resolve } of lost?.leaving.values() ?? []) resolve()
    lost?.inboxes.clear()
    lost?.leaving.clear()
  }
  const isWanted = () => {
    if (rest === null) return users.size > 0
    return rest.keepsNews && [...users].some(({ reads }) => reads === 'news')
  }
  /** Opens or closes the connection, as its users need it. */
  const update = () => {
    if (!isWanted()) {
      running?.abort()
      running = null
      lose()
    } else if (running === null) {
      running = new AbortController()
      void run(running)
    }
    tell()
  }

  const run = async (mine: AbortController) => {
    refused = null
    const frames = followStream(wire, {
      signal: mine.signal,
      path: () => '/v1/stream',
      decode: decodeShared,
      take: (frame) => (running === mine ? take(frame) : null),
      onConnection(connection) {
        // Report `live` only after the stream id arrived.
        if (running !== mine || connection.state === 'live' || connection.state === 'connecting') return
        lose()
        report(connection)
        tell()
      },
    })
    const last = await frames.next() // `take` keeps every frame, so that the first value is the last
    if (running !== mine) return
    running = null
    lose()
    refused = last.value
    for (const inbox of newsInboxes) inbox.close()
    tell()
  }

  const take = (frame: SharedFrame | StreamStarted | NewsFrame): null => {
    if (frame.type === 'stream') {
      open = { id: frame.stream, inboxes: new Map(), leaving: new Map() }
      report({ state: 'live' })
      tell()
    } else if (frame.type === 'session') takeFrame(frame.frame)
    else if (frame.type !== 'end') for (const inbox of newsInboxes) inbox.push(frame)
    return null
  }
  const takeFrame = (frame: Frame) => {
    const id = frame.sessionId
    const inbox = open?.inboxes.get(id)
    const isTaken = inbox?.push(frame) ?? true
    if (frame.type === 'end') {
      open?.leaving.get(id)?.resolve()
      open?.leaving.delete(id)
      if (inbox) open?.inboxes.delete(id)
      inbox?.close()
    } else if (!isTaken && open) drop(open, id) // the reader is too slow; it follows again from its cursor
  }

  /** Drops a session from the connection. Its last frame says when it can be followed again. */
  const drop = (stream: OpenStream, id: SessionId) => {
    const inbox = stream.inboxes.get(id)
    if (!inbox || stream !== open) return
    stream.inboxes.delete(id)
    inbox.close()
    const left = Promise.withResolvers<void>()
    stream.leaving.set(id, left)
    void wire.json(`/v1/stream/${stream.id}/unfollow`, { body: { session: id } }).then((answer) => {
      if (!answer.ok) left.resolve()
      if (!answer.ok && stream.leaving.get(id) === left) stream.leaving.delete(id)
    })
  }

  const keep = async (user: StreamUser) => {
    if (!user.keepSeat) return
    kept.add(user)
    await user.keepSeat()
  }

  const dropAll = () => {
    if (open) for (const id of [...open.inboxes.keys()]) drop(open, id)
  }

  return {
    drop,

    /** Returns the open connection when there is one, the fault if the server refuses it, or null once `signal` aborts. */
    async opened(signal: AbortSignal | undefined): Promise<OpenStream | Fault | null> {
      const left = Promise.withResolvers<void>()
      const abort = () => left.resolve()
      signal?.addEventListener('abort', abort)
      try {
        while (!signal?.aborted) {
          if (refused) return refused
          if (open && rest === null) return open
          await Promise.race([changed.promise, left.promise])
        }
        return null
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },

    /** Adds a user, until the returned function is called. */
    join(user: StreamUser): () => void {
      if (refused && running === null) refused = null // a new user tries again
      users.add(user)
      if (open && user.reads === 'news') user.onConnection({ state: 'live' })
      else user.onConnection({ state: 'connecting' })
      update()
      return () => {
        users.delete(user)
        if (kept.delete(user)) user.leaveSeat?.() // it was kept for a day
        update()
      }
    },

    /** Yields the news. Throws when the server refuses. */
    async *news(signal: AbortSignal | undefined): AsyncGenerator<SessionNews> {
      const inbox = createInbox<SessionNews>(limits.newsWaitingMax)
      newsInboxes.add(inbox)
      signal?.addEventListener('abort', inbox.close)
      try {
        for await (const news of inbox) {
          if (signal?.aborted) return
          yield news
        }
        if (refused && !signal?.aborted) throw new HoldfastError(refused)
      } finally {
        newsInboxes.delete(inbox)
        signal?.removeEventListener('abort', inbox.close)
      }
    },

    /** Leaves all sessions, and the news unless they are kept. Attachments are kept. `wake` continues from each cursor. */
    async rest(keepsNews: boolean): Promise<void> {
      const mine = ++restAsked
      if (rest === null) await Promise.all([...users].map(keep))
      if (mine !== restAsked) return // awake again, meanwhile
      rest = { keepsNews }
      dropAll()
      update()
    },

    wake(): void {
      restAsked++
      rest = null
      update()
    },

    /** Gives up the attachments that were kept, because the page closes. */
    leave(): void {
      for (const { leaveSeat } of kept) leaveSeat?.()
      kept.clear()
    },

    /** Connects again at once, if it waits for its next try. */
    retry(): void {
      if (open || running === null) return
      running.abort()
      running = null
      update()
    },
  }
}
