/** A place where a double waits until the test lets it go on, so that no test has to sleep. */
export type Gate = {
  /** Resolves once somebody waits here. */
  readonly reached: Promise<void>
  readonly open: () => void
  /** For the one who waits: resolves when the gate is opened, or at once if it is. */
  readonly pass: () => Promise<void>
}

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
