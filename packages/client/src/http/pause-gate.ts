/** Lets streams end while nobody reads them, and continue later. */
export type PauseGate = ReturnType<typeof createPauseGate>

export function createPauseGate() {
  let pause: PromiseWithResolvers<void> | null = null
  let begins = new AbortController()
  return {
    /** Aborts when the next pause begins; it has, during one. */
    get begins(): AbortSignal {
      return begins.signal
    },
    pause(): void {
      pause ??= Promise.withResolvers()
      begins.abort()
    },
    resume(): void {
      if (pause === null) return
      begins = new AbortController()
      pause.resolve()
      pause = null
    },
    /** Resolves while there is no pause, or once `signal` aborts. */
    async resumed(signal: AbortSignal | undefined): Promise<void> {
      const left = Promise.withResolvers<void>()
      const abort = () => left.resolve()
      signal?.addEventListener('abort', abort)
      while (pause !== null && !signal?.aborted) await Promise.race([pause.promise, left.promise])
      signal?.removeEventListener('abort', abort)
    },
  }
}
