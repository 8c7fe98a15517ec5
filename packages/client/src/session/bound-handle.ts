import { type Frame, fault, HoldfastError, type Seat, type SessionHandle } from '@holdfast/protocol'

/** Returns the handle in the name of a client: it sends commands, subscribes and attaches under this name. */
export const bindClient = (handle: SessionHandle, client: string): SessionHandle => ({
  ...handle,
  submit: (command, options = {}) => handle.submit(command, { ...options, as: options.as ?? client }),
  subscribe: (options = {}) => handle.subscribe({ ...options, client: options.client ?? client }),
  attach: (options = {}) => handle.attach({ ...options, client: options.client ?? client }),
})

/** The handle of an attached client, and the end of both its seat and its subscriptions. */
export type BoundSeat = { readonly handle: SessionHandle; detach(): Promise<void> }

/**
 * Binds a handle to an attached client. When the client detaches, its subscriptions end, because each of them would keep
 * it attached. Later commands and subscriptions are refused: not_subscribed.
 */
export function bindSeat(handle: SessionHandle, { client, submit, detach }: Seat): BoundSeat {
  const left = new AbortController()
  const bound = bindClient(handle, client)
  return {
    handle: {
      ...bound,
      submit,
      subscribe(options = {}) {
        const { signal } = options
        const stop = signal ? AbortSignal.any([signal, left.signal]) : left.signal
        const frames = bound.subscribe({ ...options, signal: stop })
        return {
          [Symbol.asyncIterator]: () => (left.signal.aborted ? refuseFrames(client) : frames[Symbol.asyncIterator]()),
        }
      },
    },
    detach() {
      left.abort()
      return detach()
    },
  }
}

// biome-ignore lint/correctness/useYield: an iterator cannot return a refusal, so its first step throws it.
async function* refuseFrames(client: string): AsyncGenerator<Frame> {
  throw new HoldfastError(fault('not_subscribed', `${client} is not attached to this session.`, { client }))
}
