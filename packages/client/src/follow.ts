import {
  decodeFrames,
  type Fault,
  type FaultCode,
  type Frame,
  fault,
  type SessionId,
  type SubscribeOptions,
  UnreadableFrame,
} from '@holdfast/protocol'
import { backoffMs } from './backoff.ts'
import type { FollowOptions } from './connection.ts'
import type { Wire } from './wire.ts'

/** What may be different when we ask again. Everything else is an answer. */
const passing: readonly FaultCode[] = [
  'unreachable',
  'internal',
  'storage_error',
  'session_locked',
  'too_many_tries',
  'fenced',
  'log_moved',
]

/** Asking again would bring the same: the two sides do not speak the same protocol. */
const tooOld = fault(
  'bad_request',
  'The server said something this client cannot read. Reload the page, or update the client.',
)

/** What one connection came to: the pause the server asked for, an end for good, or a break. */
type Ending =
  | { readonly type: 'again'; readonly retryMs: number }
  | { readonly type: 'over' }
  | { readonly type: 'broken'; readonly fault: Fault | null; readonly wasAlive: boolean }

/** The frames of a session across any number of connections: each record once and in order, as if there had been one. */
export async function* follow(wire: Wire, id: SessionId, options: FollowOptions = {}): AsyncGenerator<Frame> {
  const { signal, onConnection } = options
  let after = options.after
  let failures = 0

  while (!signal?.aborted) {
    onConnection?.({ state: 'connecting' })
    const ending = yield* connection()
    if (signal?.aborted) return
    if (ending.type === 'over') return
    if (ending.type === 'broken' && ending.fault && !passing.includes(ending.fault.code)) {
      onConnection?.({ state: 'ended', fault: ending.fault })
      yield { type: 'end', sessionId: id, reason: 'failed', retryMs: null }
      return
    }
    if (ending.type === 'again' || ending.wasAlive) failures = 0
    const retryMs = ending.type === 'again' ? ending.retryMs : backoffMs(failures++, wire.pace.chance())
    onConnection?.({ state: 'waiting', retryMs, fault: ending.type === 'broken' ? ending.fault : null })
    await wire.pace.wait(retryMs, signal)
  }

  async function* connection(): AsyncGenerator<Frame, Ending> {
    const silence = createSilence(wire.pace.silenceMs, signal)
    let wasAlive = false
    try {
      const body = await wire.stream(eventsPath(id, { ...options, after }), { signal: silence.signal })
      if (!body.ok) return { type: 'broken', fault: body.fault, wasAlive }
      onConnection?.({ state: 'live' })
      for await (const frame of decodeFrames(silence.watch(body.value))) {
        wasAlive = true
        if (frame.type === 'end') {
          if (frame.retryMs !== null) return { type: 'again', retryMs: frame.retryMs }
          onConnection?.({ state: 'ended', fault: null })
          yield frame
          return { type: 'over' }
        }
        if (frame.type === 'record') {
          if (after !== undefined && frame.record.seq <= after) continue // already handed out
          after = frame.record.seq
        }
        if (frame.type === 'snapshot') after = frame.seq
        yield frame
      }
      return { type: 'broken', fault: null, wasAlive }
    } catch (cause) {
      return { type: 'broken', fault: cause instanceof UnreadableFrame ? tooOld : null, wasAlive } // else cut off in mid-frame
    } finally {
      silence.end()
    }
  }
}

function eventsPath(id: SessionId, { after, client, role }: SubscribeOptions): string {
  const query = new URLSearchParams()
  if (after !== undefined) query.set('after', String(after))
  if (client !== undefined) query.set('attachment', client)
  if (role !== undefined) query.set('role', role)
  return `/v1/sessions/${id}/events${query.size > 0 ? `?${query}` : ''}`
}

/** Notices a connection that died without a word, as after a laptop's sleep: heartbeats stop coming. */
function createSilence(silenceMs: number, signal: AbortSignal | undefined) {
  const dead = new AbortController()
  const abort = () => dead.abort()
  signal?.addEventListener('abort', abort)
  let timer = setTimeout(abort, silenceMs)
  return {
    signal: dead.signal,
    watch: (body: ReadableStream<Uint8Array>) =>
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            clearTimeout(timer)
            timer = setTimeout(abort, silenceMs)
            controller.enqueue(chunk)
          },
        }),
      ),
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      dead.abort()
    },
  }
}
