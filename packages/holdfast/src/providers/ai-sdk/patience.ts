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
 * Waits for one answer of the network, but never past an abort or a long silence: a stream that ignores its signal
 * is left behind. The clock runs only while we wait, so a slow reader is not taken for a silent service.
 */
export function createPatience({ signal, silenceMs, clock }: PatienceOptions) {
  return <Value>(work: () => PromiseLike<Value>): Promise<Waited<Value>> =>
    new Promise((settle) => {
      if (signal.aborted) return settle({ type: 'aborted' })

      const done = (waited: Waited<Value>) => {
        stopTimer()
        signal.removeEventListener('abort', onAbort)
        settle(waited)
      }
      const onAbort = () => done({ type: 'aborted' })
      const stopTimer = clock.after(silenceMs, () => done({ type: 'silent' }))
      signal.addEventListener('abort', onAbort)

      // Begun inside `then`, so that work which throws at once is a rejection like any other.
      Promise.resolve()
        .then(work)
        .then(
          (value) => done({ type: 'got', value }),
          (error: unknown) => done({ type: 'broken', error }),
        )
    })
}
