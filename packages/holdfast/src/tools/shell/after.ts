import type { Clock } from '@holdfast/core/ports'

export type After = Clock['after']

/** The machine's own timer. A waiting one never keeps a process alive. */
export const systemAfter: After = (delayMs, call) => {
  const timer = setTimeout(call, delayMs).unref()
  return () => clearTimeout(timer)
}
