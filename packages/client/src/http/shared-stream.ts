import { type Fault, HoldfastError, limits, type SessionNews } from '@holdfast/protocol'
import type { Connection } from './follow-stream.ts'
import type { Http } from './http.ts'
import { createInbox, type Inbox } from './inbox.ts'
import type { OpenStream } from './open-stream.ts'
import { createSharedConnection } from './shared-connection.ts'

/** A user of the connection: a reader of the news, or of one session. */
export type StreamUser = {
  readonly reads: 'news' | 'session'
  readonly onConnection: (connection: Connection) => void
  /** Called once per followed session before a pause, to keep its attachment. */
  readonly keepSeat?: () => Promise<void>
  /** Gives up an attachment that was kept. */
  readonly leaveSeat?: () => void
}

/** One connection that carries the news and every session that a client follows: browsers allow six for a server. */
export type SharedStream = ReturnType<typeof createSharedStream>

type Pause = { readonly keepsNews: boolean }

/** Creates the connection of a client. It is open while someone uses it and it is not paused. */
export function createSharedStream(wire: Http) {
  const users = new Set<StreamUser>()
  const seats = createKeptSeats()
  const news = createNewsReaders()
  let pause: Pause | null = null
  let pausesAsked = 0

  const connection = createSharedConnection(wire, {
    onState(state) {
      for (const { reads, onConnection } of [...users])
        if (state.state !== 'live' || reads === 'news') onConnection(state)
    },
    onNews: news.push,
    onRefused: news.close,
  })
  const isWanted = () => {
    if (pause === null) return users.size > 0
    return pause.keepsNews && [...users].some(({ reads }) => reads === 'news')
  }
  /** Opens or closes the connection, as its users need it. */
  const update = () => {
    if (isWanted()) connection.start()
    else connection.stop()
    connection.notify()
  }

  return {
    /** Returns the open connection when there is one, the fault if the server refuses it, or null once `signal` aborts. */
    opened: (signal: AbortSignal | undefined): Promise<OpenStream | Fault | null> =>
      untilAborted(signal, connection.changed, () => connection.refused ?? (pause === null ? connection.stream : null)),

    /** Adds a user, until the returned function is called. */
    join(user: StreamUser): () => void {
      connection.forgive() // a new user tries again
      users.add(user)
      const isLive = connection.stream !== null && user.reads === 'news'
      user.onConnection({ state: isLive ? 'live' : 'connecting' })
      update()
      return () => {
        users.delete(user)
        seats.leave(user)
        update()
      }
    },

    /** Yields the news. Throws when the server refuses. */
    async *news(signal: AbortSignal | undefined): AsyncGenerator<SessionNews> {
      yield* news.read(signal)
      if (connection.refused && !signal?.aborted) throw new HoldfastError(connection.refused)
    },

    /** Leaves all sessions, and the news unless they are kept. Attachments are kept. `resume` continues from each cursor. */
    async pause(keepsNews: boolean): Promise<void> {
      const mine = ++pausesAsked
      if (pause === null) await Promise.all([...users].map(seats.keep))
      if (mine !== pausesAsked) return // resumed, meanwhile
      pause = { keepsNews }
      connection.stream?.dropAll()
      update()
    },

    resume(): void {
      pausesAsked++
      pause = null
      update()
    },

    /** Gives up the attachments that were kept, because the page closes. */
    leave: seats.leaveAll,

    /** Connects again at once, if it waits for its next try. */
    retry(): void {
      if (connection.stream || !connection.isRunning) return
      connection.stop()
      update()
    },
  }
}

/** Reads a value again after each change, until it is there. Returns null once `signal` aborts. */
async function untilAborted<Value>(
  signal: AbortSignal | undefined,
  changed: () => Promise<void>,
  read: () => Value | null,
): Promise<Value | null> {
  const left = Promise.withResolvers<void>()
  const abort = () => left.resolve()
  signal?.addEventListener('abort', abort)
  try {
    while (!signal?.aborted) {
      const value = read()
      if (value !== null) return value
      await Promise.race([changed(), left.promise])
    }
    return null
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Holds the users whose attachment is kept during a pause: it lasts longer than their stream. */
function createKeptSeats() {
  const kept = new Set<StreamUser>()
  return {
    async keep(user: StreamUser): Promise<void> {
      if (!user.keepSeat) return
      kept.add(user)
      await user.keepSeat()
    },
    /** Gives up the attachment of a user, which would be kept for a day. */
    leave(user: StreamUser): void {
      if (kept.delete(user)) user.leaveSeat?.()
    },
    leaveAll(): void {
      for (const { leaveSeat } of kept) leaveSeat?.()
      kept.clear()
    },
  }
}

/** Gives the news to every reader. */
function createNewsReaders() {
  const inboxes = new Set<Inbox<SessionNews>>()
  return {
    push(news: SessionNews): void {
      for (const inbox of inboxes) inbox.push(news)
    },
    /** Ends all readers. */
    close(): void {
      for (const inbox of inboxes) inbox.close()
    },
    async *read(signal: AbortSignal | undefined): AsyncGenerator<SessionNews, void> {
      const inbox = createInbox<SessionNews>(limits.newsWaitingMax)
      inboxes.add(inbox)
      signal?.addEventListener('abort', inbox.close)
      try {
        for await (const news of inbox) {
          if (signal?.aborted) return
          yield news
        }
      } finally {
        inboxes.delete(inbox)
        signal?.removeEventListener('abort', inbox.close)
      }
    },
  }
}
