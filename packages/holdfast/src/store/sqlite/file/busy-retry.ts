import { isBusy } from '../../storage-fault.ts'

const waitMsMax = 10_000
const clock = new Int32Array(new SharedArrayBuffer(4))

/**
 * Retries while another process has the file locked. SQLite's own busy handler backs off to 100 ms and starves the second
 * writer; short random waits let two busy writers take turns. Blocks its thread: for workers and the CLI.
 */
export function whileBusy<Value>(attempt: () => Value): Value {
  const giveUpAt = performance.now() + waitMsMax
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
      Atomics.wait(clock, 0, 0, 0.1 + Math.random())
    }
  }
}
