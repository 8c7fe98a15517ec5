import type { Result } from '@holdfast/protocol'
import type { Report } from '../session/input.ts'
import type { Effect } from '../session/plan.ts'

/** What an effect may do while it runs. */
export type EffectRun = {
  readonly signal: AbortSignal
  /** Tells the session something before the effect is over; resolves once it is durable, or was refused. */
  readonly tell: (report: Report) => Promise<Result<unknown>>
}

/** Does one effect and says what came of it; null when there is nothing to say, because it was aborted. */
export type Perform = (effect: Effect, run: EffectRun) => Promise<Report | null>

/** Keeps what runs in step with what is owed: starts what is new, aborts what is no longer owed. */
export interface Performer {
  reconcile(owed: readonly Effect[]): void
  /** Stops everything at once, before anything is written. Nothing starts again until the next `reconcile`. */
  interrupt(): void
  /** Resolves when nothing runs any more. */
  settled(): Promise<void>
}

export function createPerformer(
  perform: Perform,
  report: (report: Report) => Promise<Result<unknown>>,
  broken: (cause: unknown) => void,
): Performer {
  const running = new Map<string, AbortController>()
  const unfinished = new Set<Promise<void>>()

  const start = (effect: Effect) => {
    const controller = new AbortController()
    running.set(effect.key, controller)
    const { signal } = controller
    const work = perform(effect, { signal, tell: report })
      // Late words of an aborted effect are dropped here, once, for all of them.
      .then((came) => (came && !signal.aborted ? report(came).then(() => undefined) : undefined))
      .catch(broken)
      .finally(() => unfinished.delete(work))
    unfinished.add(work)
  }

  return {
    reconcile(owed) {
      const keys = new Set(owed.map(({ key }) => key))
      for (const [key, controller] of running) {
        if (keys.has(key)) continue
        running.delete(key)
        controller.abort()
      }
      // A finished effect keeps its place until it is no longer owed, so that it is not begun twice.
      for (const effect of owed) if (!running.has(effect.key)) start(effect)
    },
    interrupt() {
      for (const controller of running.values()) controller.abort()
      // The places stay taken: what was interrupted is not begun again while it is still on the books.
    },
    async settled() {
      while (unfinished.size > 0) await Promise.all(unfinished)
    },
  }
}
