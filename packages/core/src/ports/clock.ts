/** Time, handed in. A simulation brings its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `delayMs`; the returned function takes it back. A waiting timer never keeps a process alive. */
  after(delayMs: number, call: () => void): () => void
}
