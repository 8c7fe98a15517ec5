/** The clock, passed in so that a simulation can bring its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Calls back once after `delayMs`; the returned function cancels it. A timer keeps the process alive only with
   * `keepsAlive`.
   */
  after(delayMs: number, call: () => void, options?: { readonly keepsAlive?: boolean }): () => void
}
