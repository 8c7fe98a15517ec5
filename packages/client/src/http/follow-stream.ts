import { type Fault, type FaultCode, fault, type SubscribeOptions } from '@holdfast/protocol'
import { UnreadableFrame } from './decode-stream.ts'
import { backoffMs, type Http } from './http.ts'

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

export type Stream<Frame, Taken> = {
  /** Where the next connection begins. */
  readonly path: () => string
  readonly decode: (body: ReadableStream<Uint8Array>) => AsyncIterable<Frame>
  /** What a frame is to whoever follows: nothing when they have it already. */
  readonly take: (frame: Frame) => Taken | null
  readonly signal?: AbortSignal | undefined
  readonly onConnection?: ((connection: Connection) => void) | undefined
}

type AnyFrame = { readonly type: string; readonly retryMs?: number | null }

/** What one connection came to: the pause the server asked for, an end for good, or a break. */
type Ending =
  | { readonly type: 'again'; readonly retryMs: number }
  | { readonly type: 'over' }
  | { readonly type: 'broken'; readonly fault: Fault | null; readonly wasAlive: boolean }

/** The frames of a stream across any number of connections; returns the fault when it is refused for good. */
export async function* followStream<Frame extends AnyFrame, Taken>(
  wire: Http,
  { path, decode, take, signal, onConnection }: Stream<Frame, Taken>,
): AsyncGenerator<Taken, Fault | null> {
  let failures = 0

  while (!signal?.aborted) {
    onConnection?.({ state: 'connecting' })
    const ending = yield* connection()
    if (signal?.aborted) return null
    if (ending.type === 'over') return null
    if (ending.type === 'broken' && ending.fault && !passing.includes(ending.fault.code)) {
      onConnection?.({ state: 'ended', fault: ending.fault })
      return ending.fault
    }
    if (ending.type === 'again' || ending.wasAlive) failures = 0
    const retryMs = ending.type === 'again' ? ending.retryMs : backoffMs(failures++, wire.pace.chance())
    onConnection?.({ state: 'waiting', retryMs, fault: ending.type === 'broken' ? ending.fault : null })
    await wire.pace.wait(retryMs, signal)
  }
  return null

  async function* connection(): AsyncGenerator<Taken, Ending> {
    const silence = createSilence(wire.pace.silenceMs, signal)
    let wasAlive = false
    try {
      const body = await wire.stream(path(), { signal: silence.signal })
      if (!body.ok) return { type: 'broken', fault: body.fault, wasAlive }
      onConnection?.({ state: 'live' })
      for await (const frame of decode(silence.watch(body.value))) {
        wasAlive = true
        const isEnd = frame.type === 'end'
        if (isEnd && typeof frame.retryMs === 'number') return { type: 'again', retryMs: frame.retryMs }
        if (isEnd) onConnection?.({ state: 'ended', fault: null })
        const taken = take(frame)
        if (taken !== null) yield taken
        if (isEnd) return { type: 'over' }
      }
      return { type: 'broken', fault: null, wasAlive }
    } catch (cause) {
      return { type: 'broken', fault: cause instanceof UnreadableFrame ? tooOld : null, wasAlive } // else cut off in mid-frame
    } finally {
      silence.end()
    }
  }
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

/** How a subscription stands with its session. A screen shows it; nothing else depends on it. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'waiting'; readonly retryMs: number; readonly fault: Fault | null }
  | { readonly state: 'ended'; readonly fault: Fault | null }

/** A subscription that also tells how it stands. A local handle has no connection and leaves `onConnection` alone. */
export type FollowOptions = SubscribeOptions & {
  readonly onConnection?: ((connection: Connection) => void) | undefined
}
