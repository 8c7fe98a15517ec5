import { isBusy } from '../../storage-fault.ts'

const waitMsMax = 10_000
const clock = new Int32Array(new SharedArrayBuffer(4))

/** Retries an attempt that returns false, or throws, while the file is locked. Returns whether one was successful. */
export function untilFree(attempt: () => boolean): boolean {
  const giveUpAt = performance.now() + waitMsMax
  for (;;) {
    if (whileBusy(attempt)) return true
    if (performance.now() > giveUpAt) return false
    Atomics.wait(clock, 0, 0, 0.1 + Math.random())
  }
}

/** Retries while another process has the file locked. Blocks its thread: for workers and the CLI. */
export function whileBusy<Value>(attempt: () => Value): Value {
  const giveUpAt = performance.now() + waitMsMax
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
      // SQLite's own busy handler would back off to 100 ms and starve the second of two writers.
      Atomics.wait(clock, 0, 0, 0.1 + Math.random())
    }
  }
}
