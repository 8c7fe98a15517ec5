import type { Fault } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'

/** Requests and answers cross in batches. The number pairs an answer with its request. */
export type Envelope<Content> = readonly [number: number, content: Content]

/** An answer with its number; the number alone if the answer is `done`. */
export type Answered = number | Envelope<Result<unknown>>

/**
 * Numbers requests, sends those of one tick in one batch, and gives each its answer. `schedule` says when the tick ends:
 * by default before anything else runs.
 */
export function createCalls<Request>(
  send: (batch: readonly Envelope<Request>[]) => void,
  schedule: (flush: () => void) => void = queueMicrotask,
) {
  const waiting = new Map<number, (answer: Result<unknown>) => void>()
  let outgoing: Envelope<Request>[] = []
  let lastNumber = 0

  function flush(): void {
    if (outgoing.length === 0) return
    const batch = outgoing
    outgoing = []
    send(batch)
  }

  return {
    /** The requests without an answer. */
    waiting,
    ask(request: Request): Promise<Result<unknown>> {
      if (outgoing.length === 0) schedule(flush)
      lastNumber += 1
      outgoing.push([lastNumber, request])
      const { promise, resolve } = Promise.withResolvers<Result<unknown>>()
      waiting.set(lastNumber, resolve)
      return promise
    },
    /** Sends what was asked in this tick. */
    flush,
    settle(answers: readonly Answered[]): void {
      for (const answered of answers) {
        const [number, answer] = typeof answered === 'number' ? ([answered, done] as const) : answered
        waiting.get(number)?.(answer)
        waiting.delete(number)
      }
    },
    /** Refuses all requests without an answer, also those that were not sent yet. */
    refuseAll(why: Fault): void {
      outgoing = []
      const refusal = refuse(why)
      for (const settle of waiting.values()) settle(refusal)
      waiting.clear()
    },
  }
}
