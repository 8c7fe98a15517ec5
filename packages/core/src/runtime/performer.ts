import type { Result } from '@holdfast/protocol'
import type { Report } from '../session/input.ts'
import type { Effect } from '../session/plan.ts'

/** What an effect can use while it runs. */
export type EffectRun = {
  readonly signal: AbortSignal
  /** Reports to the session before the effect ends; resolves once that is durable or refused. */
  readonly tell: (report: Report) => Promise<Result<unknown>>
}

/** Runs one effect and returns its report; null when it was aborted and has nothing to report. */
export type Perform = (effect: Effect, run: EffectRun) => Promise<Report | null>

/** Keeps the running effects equal to the planned ones: starts new ones, aborts those no longer planned. */
export interface Performer {
  reconcile(owed: readonly Effect[]): void
  /** Aborts everything at once, before anything is written. Nothing starts again until the next `reconcile`. */
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
      // The report of an aborted effect is dropped here, once for all effects.
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
      // A finished effect keeps its key until it is no longer planned, so that it does not start twice.
      for (const effect of owed) if (!running.has(effect.key)) start(effect)
    },
    interrupt() {
      for (const controller of running.values()) controller.abort()
      // The keys stay in the map, so that no interrupted effect restarts while it is still planned.
    },
    async settled() {
      while (unfinished.size > 0) await Promise.all(unfinished)
    },
  }
}
