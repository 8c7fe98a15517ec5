import {
  type Frame,
  orThrow,
  parseSubscribeOptions,
  type SessionHandle,
  type SubscribeOptions,
} from '@holdfast/protocol'

/** The frames of a session, for one `for await` loop. */
export interface Subscription extends AsyncIterable<Frame> {
  /** Ends the loop and this subscription only. Leaving the loop, or aborting its `signal`, does the same. */
  unsubscribe(): void
}

/** Creates a subscription that its owner can end from outside of the loop. */
export function createSubscription(
  handle: Pick<SessionHandle, 'subscribe'>,
  given: SubscribeOptions = {},
): Subscription {
  const { signal, ...options } = orThrow(parseSubscribeOptions(given))
  const left = new AbortController()
  const stop = signal ? AbortSignal.any([signal, left.signal]) : left.signal
  const frames = handle.subscribe({ ...options, signal: stop })
  return {
    [Symbol.asyncIterator]: () => frames[Symbol.asyncIterator](),
    unsubscribe: () => left.abort(),
  }
}
