import type { Clock } from '@holdfast/core/ports'

/** How waiting for the network ended. Every way is a value: nothing here rejects. */
export type Waited<Value> =
  | { readonly type: 'got'; readonly value: Value }
  | { readonly type: 'broken'; readonly error: unknown }
  | { readonly type: 'aborted' }
  | { readonly type: 'silent' }

export type PatienceOptions = {
  readonly signal: AbortSignal
  readonly silenceMs: number
  readonly clock: Clock
}

/**
 * Waits for one answer of the network after another, but never past an abort or a long silence: a stream that ignores
 * its signal is left behind. The clock runs only while we wait, so a slow reader is not taken for a silent service.
 */
export interface Patience {
  /** One at a time, and none after one that was aborted or found silence: what that one asked for may still come. */
  wait<Value>(work: () => PromiseLike<Value>): Promise<Waited<Value>>
  /** Nobody waits any more. */
  stop(): void
}

type Settle = (waited: Waited<never>) => void

/** One timer and one listener for a whole stream: a pair for each of its fragments would cost more than the fragment. */
export function createPatience({ signal, silenceMs, clock }: PatienceOptions): Patience {
  let settle: Settle | null = null
  let sinceMs = 0
  let stopTimer: (() => void) | null = null

  const done = (waited: Waited<unknown>) => {
    const waiting = settle
    settle = null
    waiting?.(waited as Waited<never>) // one wait at a time: what it waits for is what came
  }
  const got = (value: unknown) => done({ type: 'got', value })
  const broken = (error: unknown) => done({ type: 'broken', error })

  const setTimer = (delayMs: number) => {
    const setFor = settle
    stopTimer = clock.after(delayMs, () => {
      stopTimer = null
      if (settle === null) return // the next wait sets its own
      if (settle === setFor) done({ type: 'silent' })
      else setTimer(Math.max(0, sinceMs + silenceMs - clock.now())) // something was heard meanwhile: wait out the rest
    })
  }
  const onAbort = () => done({ type: 'aborted' })
  signal.addEventListener('abort', onAbort)

  return {
    wait: <Value>(work: () => PromiseLike<Value>) =>
      new Promise<Waited<Value>>((resolve) => {
        if (signal.aborted) return resolve({ type: 'aborted' })
        settle = resolve
        sinceMs = clock.now()
        if (stopTimer === null) setTimer(silenceMs)
        try {
          work().then(got, broken)
        } catch (error) {
          broken(error) // work that throws at once is a rejection like any other
        }
      }),

    stop() {
      stopTimer?.()
      signal.removeEventListener('abort', onAbort)
    },
  }
}
