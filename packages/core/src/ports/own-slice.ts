let lastSlice: Promise<unknown> = Promise.resolve()

/**
 * Yields to the event loop, and resolves in a slice of its own. Each of many calls or bodies may take milliseconds. One
 * queue for the core and all adapters: what they do never shares a slice.
 */
export function ownSlice(): Promise<void> {
  const next = lastSlice.then(() => new Promise<void>((resolve) => setImmediate(resolve)))
  lastSlice = next
  return next
}
