/** A window that could keep the news for all windows of the browser. */
export type Candidate = {
  /** Tells the window that it keeps the news from now on. */
  readonly choose: () => void
  /** Asks the window to call `answer`. */
  readonly ping: () => void
}

type HolderDeps = {
  /** Calls `work` after a time, unless the returned function is called. */
  readonly after: (ms: number, work: () => void) => () => void
}

/** A holder that does not answer for this long is gone: it crashed, or the browser froze it. */
export const silenceMs = 15_000

/**
 * Chooses one window that keeps the news for all, and another one when it is gone. It is for browsers without
 * `navigator.locks`, as on plain HTTP.
 */
export function createHolderChoice({ after }: HolderDeps) {
  const candidates = new Set<Candidate>()
  let holder: Candidate | null = null
  let hasAnswered = true
  let cancel: () => void = () => undefined

  const chooseNext = () => {
    cancel()
    const [first] = candidates
    holder = first ?? null
    holder?.choose()
    if (holder !== null) watch()
  }
  const watch = () => {
    hasAnswered = false
    holder?.ping()
    cancel = after(silenceMs, () => {
      if (hasAnswered) return watch()
      if (holder) candidates.delete(holder)
      chooseNext()
    })
  }
  return {
    /** Call when a window is there, and when it answers a ping. One that was taken for gone is a candidate again. */
    answer(candidate: Candidate): void {
      candidates.add(candidate)
      if (holder === candidate) hasAnswered = true
      else if (holder === null) chooseNext()
    },
    /** Call when a window is closed. */
    leave(candidate: Candidate): void {
      candidates.delete(candidate)
      if (holder === candidate) chooseNext()
    },
  }
}
