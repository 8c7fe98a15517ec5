import {
  type Fault,
  HoldfastError,
  limits,
  type NewsFrame,
  type SessionNews,
  type StreamStarted,
} from '@holdfast/protocol'
import { decodeShared, type SharedFrame } from './decode-stream.ts'
import { type Connection, followStream } from './follow-stream.ts'
import type { Http } from './http.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { createOpenStream, type OpenStream } from './open-stream.ts'

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
    lost?.close()
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
      open = createOpenStream(wire, frame.stream)
      report({ state: 'live' })
      tell()
    } else if (frame.type === 'session') open?.take(frame.frame)
    else if (frame.type !== 'end') for (const inbox of newsInboxes) inbox.push(frame)
    return null
  }

  const keep = async (user: StreamUser) => {
    if (!user.keepSeat) return
    kept.add(user)
    await user.keepSeat()
  }

  return {
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
      open?.dropAll()
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
