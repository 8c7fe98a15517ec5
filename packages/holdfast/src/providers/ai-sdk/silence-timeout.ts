import type { Clock } from '@holdfast/core/ports'

/** How a wait ended. It never rejects. */
export type WaitResult<Value> =
  | { readonly type: 'done'; readonly value: Value }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'aborted' }
  | { readonly type: 'silent' }

type SilenceTimeoutDeps = { readonly signal: AbortSignal; readonly silenceMs: number; readonly clock: Clock }

/**
 * Waits for network results, at most until an abort or `silenceMs` without data, even if the stream ignores its signal.
 * The time counts only during a wait, so a slow reader is not mistaken for a silent service. Uses one timer and one
 * listener for a whole stream: a pair per fragment would cost more than the fragment.
 */
export function createSilenceTimeout({ signal, silenceMs, clock }: SilenceTimeoutDeps) {
  let settle: ((result: WaitResult<never>) => void) | null = null
  let startedMs = 0
  let stopTimer: (() => void) | null = null

  const end = (result: WaitResult<unknown>) => {
    const current = settle
    settle = null
    current?.(result as WaitResult<never>) // there is only one wait at a time, so the types match
  }
  const onDone = (value: unknown) => end({ type: 'done', value })
  const onFailed = (error: unknown) => end({ type: 'failed', error })
  const onAbort = () => end({ type: 'aborted' })

  const setTimer = (delayMs: number) => {
    const setFor = settle
    stopTimer = clock.after(delayMs, () => {
      stopTimer = null
      if (settle === null) return // the next wait sets its own
      if (settle === setFor) end({ type: 'silent' })
      else setTimer(Math.max(0, startedMs + silenceMs - clock.now())) // data arrived meanwhile: wait for the rest
    })
  }
  signal.addEventListener('abort', onAbort)

  return {
    /**
     * Waits for one result at a time and calls back with it. Do not use again after `aborted` or `silent`: an old result may
     * still arrive. A callback, because a promise would cost every fragment another turn of the microtask queue.
     */
    wait<Value>(work: () => PromiseLike<Value>, then: (result: WaitResult<Value>) => void): void {
      if (signal.aborted) {
        then({ type: 'aborted' })
        return
      }
      settle = then
      startedMs = clock.now()
      if (stopTimer === null) setTimer(silenceMs)
      try {
        work().then(onDone, onFailed)
      } catch (error) {
        onFailed(error)
      }
    },

    stop() {
      stopTimer?.()
      signal.removeEventListener('abort', onAbort)
    },
  }
}
