import { type Fault, type Frame, limits, type Seq, type SessionId, type SubscribeOptions } from '@holdfast/protocol'
import { decodeFrames } from './decode-stream.ts'
import { type Connection, followStream, retryable } from './follow-stream.ts'
import { backoffMs, type Http, queryOf } from './http.ts'
import { createInbox } from './inbox.ts'
import type { OpenStream } from './open-stream.ts'
import type { SharedStream } from './shared-stream.ts'

/** Where a reader goes on after a connection is lost. */
type Cursor = {
  /** The last record that it has. */
  readonly after: Seq | undefined
  /** Whether another client drove the session. A viewer must not take control because it comes back first. */
  readonly watches: boolean
  take(frame: Frame): Frame | null
}

/** Creates the cursor of a reader. `take` returns null for a record that the reader already has. */
export function createCursor({ after: start, client }: SubscribeOptions): Cursor {
  let after = start
  let watches = false
  return {
    get after() {
      return after
    },
    get watches() {
      return watches
    },
    take(frame) {
      if (frame.type === 'presence') watches = frame.clients.find((one) => one.client === client)?.role === 'viewer'
      if (frame.type === 'record') {
        if (after !== undefined && frame.record.seq <= after) return null
        after = frame.record.seq
      }
      if (frame.type === 'snapshot') after = frame.seq
      return frame
    },
  }
}

type Followed = {
  readonly id: SessionId
  readonly who: SubscribeOptions
  readonly cursor: Cursor
  readonly signal: AbortSignal | undefined
  readonly onConnection: ((connection: Connection) => void) | undefined
}

const roleOf = ({ role }: SubscribeOptions, { watches }: Cursor): SubscribeOptions['role'] =>
  role ?? (watches ? 'viewer' : undefined)

/** Follows a session on a connection of its own. Returns the fault if the server refuses. */
export async function* followAlone(wire: Http, followed: Followed): AsyncGenerator<Frame, Fault | null> {
  const { id, who, cursor, signal, onConnection } = followed
  for (;;) {
    await wire.gate.resumed(signal)
    const pause = wire.gate.begins
    const last = yield* followStream(wire, {
      decode: decodeFrames,
      take: cursor.take,
      onConnection,
      signal: signal ? AbortSignal.any([signal, pause]) : pause,
      path: () => {
        const { client: attachment, children } = who
        const role = roleOf(who, cursor)
        const query = queryOf({ after: cursor.after, attachment, role, children: children || undefined })
        return `/v1/sessions/${id}/events${query}`
      },
    })
    if (!pause.aborted || signal?.aborted || last !== null) return last
  }
}

/** Follows a session on the connection that all streams of the client share. Returns the fault if the server refuses. */
export async function* followShared(
  wire: Http,
  shared: SharedStream,
  followed: Followed,
): AsyncGenerator<Frame, Fault | null> {
  const { id, who, cursor, signal, onConnection = () => undefined } = followed
  const leave = shared.join({
    reads: 'session',
    onConnection,
    keepSeat: () => keepSeat(wire, id, who),
    leaveSeat: () => leaveSeat(wire, id, who),
  })
  let failures = 0
  try {
    while (!signal?.aborted) {
      const stream = await shared.opened(signal)
      if (stream === null) return null
      if ('code' in stream) return stream
      await stream.leaving.get(id)?.promise
      // Another reader of this client follows it there, and a connection carries a session once.
      if (stream.inboxes.has(id)) return yield* followAlone(wire, followed)
      const ending = yield* connection(stream)
      if (ending.type === 'over') return null
      if (ending.type === 'again') failures = 0
      if (ending.type === 'refused' && isFinal(ending.fault)) {
        onConnection({ state: 'ended', fault: ending.fault })
        return ending.fault
      }
      if (ending.type === 'lost' || signal?.aborted) continue
      const retryMs = ending.type === 'again' ? ending.retryMs : backoffMs(failures++, wire.pace.chance())
      onConnection({ state: 'waiting', retryMs, fault: ending.type === 'refused' ? ending.fault : null })
      await wire.pace.wait(retryMs, signal)
    }
    return null
  } finally {
    leave()
  }

  async function* connection(stream: OpenStream): AsyncGenerator<Frame, Ending> {
    const inbox = createInbox<Frame>(limits.newsWaitingMax)
    stream.inboxes.set(id, inbox)
    signal?.addEventListener('abort', inbox.close)
    try {
      const { client: attachment, children } = who
      const body = { session: id, after: cursor.after, attachment, role: roleOf(who, cursor), children }
      const answer = await wire.json(`/v1/stream/${stream.id}/follow`, { body })
      if (stream.inboxes.get(id) !== inbox) return { type: 'lost' } // the connection is over, and so is this request
      if (!answer.ok) {
        stream.inboxes.delete(id)
        return { type: 'refused', fault: answer.fault }
      }
      onConnection({ state: 'live' })
      for await (const frame of inbox) {
        if (signal?.aborted) break
        const isEnd = frame.type === 'end'
        if (isEnd && frame.retryMs !== null) return { type: 'again', retryMs: frame.retryMs }
        if (isEnd) onConnection({ state: 'ended', fault: null })
        const taken = cursor.take(frame)
        if (taken !== null) yield taken
        if (isEnd) return { type: 'over' }
      }
      return { type: 'lost' }
    } finally {
      signal?.removeEventListener('abort', inbox.close)
      if (stream.inboxes.get(id) === inbox) stream.drop(id)
    }
  }
}

/** `not_found` is about the connection: the server knows of its end before the client does. */
const isFinal = ({ code }: Fault): boolean => code !== 'not_found' && !retryable.includes(code)

/** How a session's part of a connection ended. */
type Ending =
  | { readonly type: 'again'; readonly retryMs: number }
  | { readonly type: 'over' | 'lost' }
  | { readonly type: 'refused'; readonly fault: Fault }

/** Keeps the attachment of a reader that leaves for a while. Without an answer it is lost, as when a connection breaks. */
async function keepSeat(wire: Http, id: SessionId, { client: attachment, role }: SubscribeOptions): Promise<void> {
  if (attachment === undefined || role === 'viewer') return
  await wire.json(`/v1/sessions/${id}/attachments`, { body: { attachment, keptMs: limits.seatKeptMsMax } })
}

/** Gives up an attachment that was kept. The request outlives a page that closes. */
function leaveSeat(wire: Http, id: SessionId, { client: attachment, role }: SubscribeOptions): void {
  if (attachment === undefined || role === 'viewer') return
  void wire.json(`/v1/sessions/${id}/attachments/${encodeURIComponent(attachment)}`, { method: 'DELETE', isLast: true })
}
