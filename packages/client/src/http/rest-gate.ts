/** Lets streams end while nobody reads them, and continue later. */
export type RestGate = ReturnType<typeof createRestGate>

export function createRestGate() {
  let resting: PromiseWithResolvers<void> | null = null
  let begins = new AbortController()
  return {
    /** Aborts when the next rest begins; it has, during one. */
    get begins(): AbortSignal {
      return begins.signal
    },
    rest(): void {
      resting ??= Promise.withResolvers()
      begins.abort()
    },
    wake(): void {
      if (resting === null) return
      begins = new AbortController()
      resting.resolve()
      resting = null
    },
    /** Resolves when no rest is going on, or once `signal` aborts. */
    async awake(signal: AbortSignal | undefined): Promise<void> {
      const left = Promise.withResolvers<void>()
      const abort = () => left.resolve()
      signal?.addEventListener('abort', abort)
      while (resting !== null && !signal?.aborted) await Promise.race([resting.promise, left.promise])
      signal?.removeEventListener('abort', abort)
    },
  }
}
