/** Time, handed in. A simulation brings its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Calls back once after `delayMs`; the returned function takes it back. A waiting timer keeps a process alive only if
   * it is told to.
   */
  after(delayMs: number, call: () => void, options?: { readonly keepsAlive?: boolean }): () => void
}
