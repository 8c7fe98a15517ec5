import type { Clock } from '@holdfast/core/ports'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { wallClock } from '../../system/wall-clock.ts'

/** How fast a body must arrive: a slow one keeps its place, and the bytes it announced, from others. */
export type Pace = Pick<Clock, 'now' | 'after'> & {
  /** How long the server waits for a client that sends nothing. Each byte adds time, up to this again. */
  readonly stallMs: number
}

/** Waits as long as `limits` says. A monotonic clock: an adjusted one must not end an upload. */
export const usualPace: Pace = {
  now: () => performance.now(),
  after: wallClock.after,
  stallMs: limits.bodyStallMs,
}

export const brokenBody = refuse(fault('bad_request', 'The request body ended early.'))

const tooSlow = (stallMs: number) =>
  refuse(
    fault(
      'too_slow',
      `The request body arrived too slowly: the server waits ${stallMs / 1000} s, and a second more for every ${limits.bodyBytesPerSecondMin} bytes. Send it again over a faster connection.`,
      { stallMs, bytesPerSecondMin: limits.bodyBytesPerSecondMin },
    ),
  )

/** Reads a body piece by piece. The last piece is a fault if it broke or came too slowly. Only waiting for the client counts. */
export async function* readPaced({ body }: Request, pace: Pace = usualPace): AsyncGenerator<Result<Uint8Array>> {
  if (body === null) return
  const reader = body.getReader()
  let leftMs = pace.stallMs
  try {
    for (;;) {
      const sinceMs = pace.now()
      const next = await within(reader.read(), leftMs, pace.after)
      if (next === null) return yield tooSlow(pace.stallMs)
      if (next.done) return
      const earnedMs = (next.value.byteLength * 1000) / limits.bodyBytesPerSecondMin
      leftMs = Math.min(pace.stallMs, Math.max(0, leftMs - (pace.now() - sinceMs)) + earnedMs)
      yield ok(next.value)
    }
  } catch {
    yield brokenBody
  } finally {
    await reader.cancel().catch(() => undefined) // it may be broken, or over
  }
}

/** Returns the value of a promise; null after `ms`. Bytes that arrived while our event loop was blocked still count. */
function within<Value>(work: Promise<Value>, ms: number, after: Clock['after']): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const cancel = after(Math.max(0, ms), () => setImmediate(() => resolve(null)))
    work.then(resolve, reject).finally(cancel)
  })
}
