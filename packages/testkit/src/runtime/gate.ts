/** A point where a test double waits until the test opens it, so that no test has to sleep. */
export type Gate = {
  /** Resolves once something waits at the gate. */
  readonly reached: Promise<void>
  /** Lets everyone pass, now and later. */
  readonly open: () => void
  /** Resolves when the gate is open. */
  readonly pass: () => Promise<void>
}

/** Creates a gate that is closed. */
export function createGate(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: () => {
      reached.resolve()
      return opened.promise
    },
  }
}
