import { type Fault, type FaultCode, fault, type SubscribeOptions } from '@holdfast/protocol'
import { UnreadableFrame } from './decode-stream.ts'
import { backoffMs, type Http } from './http.ts'

/** Faults worth a retry. Any other fault is final. */
export const retryable: readonly FaultCode[] = [
  'unreachable',
  'internal',
  'storage_error',
  'session_locked',
  'too_many_requests',
  'too_many_tries',
  'fenced',
  'log_moved',
]

/** Not worth a retry: client and server have different protocol versions. */
const tooOld = fault(
  'bad_request',
  'The server sent something this client cannot read. Reload the page, or update the client.',
)

const revoked = fault('unauthorized', 'The token was revoked or has expired. Ask for a new one.')

type Stream<Frame, Taken> = {
  /** Path of the next connection, with its cursor. */
  readonly path: () => string
  readonly decode: (body: ReadableStream<Uint8Array>) => AsyncIterable<Frame>
  /** Returns the item to yield, or null for a frame the reader already has. */
  readonly take: (frame: Frame) => Taken | null
  readonly signal?: AbortSignal | undefined
  readonly onConnection?: ((connection: Connection) => void) | undefined
}

type AnyFrame = { readonly type: string; readonly reason?: string; readonly retryMs?: number | null }

/** How one connection ended: with a requested pause, for the last time, or broken. */
type Ending =
  | { readonly type: 'again'; readonly retryMs: number }
  | { readonly type: 'over' }
  | { readonly type: 'broken'; readonly fault: Fault | null; readonly wasAlive: boolean }

/** Yields the frames of a stream across reconnects. Returns the fault when the server refuses for the last time. */
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
    if (ending.type === 'broken' && ending.fault && !retryable.includes(ending.fault.code)) {
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
    const silence = createSilenceWatch(wire.pace.silenceMs, signal)
    let wasAlive = false
    try {
      const body = await wire.stream(path(), { signal: silence.signal })
      if (!body.ok) return { type: 'broken', fault: body.fault, wasAlive }
      onConnection?.({ state: 'live' })
      for await (const frame of decode(silence.watch(body.value))) {
        wasAlive = true
        const isEnd = frame.type === 'end'
        if (isEnd && frame.reason === 'revoked') return { type: 'broken', fault: revoked, wasAlive }
        if (isEnd && typeof frame.retryMs === 'number') return { type: 'again', retryMs: frame.retryMs }
        if (isEnd) onConnection?.({ state: 'ended', fault: null })
        const taken = take(frame)
        if (taken !== null) yield taken
        if (isEnd) return { type: 'over' }
      }
      return { type: 'broken', fault: null, wasAlive }
    } catch (cause) {
      return { type: 'broken', fault: cause instanceof UnreadableFrame ? tooOld : null, wasAlive } // else the connection broke within a frame
    } finally {
      silence.end()
    }
  }
}

/** Aborts a silent connection. Heartbeats stop, for example, after a laptop's sleep. */
function createSilenceWatch(silenceMs: number, signal: AbortSignal | undefined) {
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

/** The state of a subscription's connection, for display only. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'waiting'; readonly retryMs: number; readonly fault: Fault | null }
  | { readonly state: 'ended'; readonly fault: Fault | null }

/** Subscribe options with a callback for the connection state. A local handle never calls it. */
export type FollowOptions = SubscribeOptions & {
  /** Called when the stream connects, is lost or is connected again. */
  readonly onConnection?: ((connection: Connection) => void) | undefined
}
