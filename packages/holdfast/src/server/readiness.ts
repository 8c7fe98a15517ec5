import type { Clock, OnProblem } from '@holdfast/core/ports'
import { notReady, type Result, refuse } from '@holdfast/protocol'
import type { Readiness } from './define/server-deps.ts'

/** Anybody may ask, and a check writes to the disk: one answer serves all who ask in this time. */
const keptMs = 1000
/** A store that takes longer is as good as broken. */
const checkMsMax = 5000

type ReadinessDeps = {
  readonly check: Readiness
  /** Aborts when the server starts to close. */
  readonly closing: AbortSignal
  readonly now: () => number
  readonly after: Clock['after']
  readonly onProblem: OnProblem
}

/** Returns whether the server can work for clients. Refused: not_ready. */
export function createReadiness({ check, closing, now, after, onProblem }: ReadinessDeps): Readiness {
  let last: { readonly until: number; readonly result: Result<null> } | null = null
  let running: Promise<Result<null>> | null = null

  const runCheck = async (): Promise<Result<null>> => {
    const late = Promise.withResolvers<Result<null>>()
    const message = `The store did not answer within ${checkMsMax / 1000} s.`
    const cancel = after(checkMsMax, () => late.resolve(refuse(notReady('timeout', message))))
    try {
      return await Promise.race([check(), late.promise])
    } catch (cause) {
      onProblem({ where: 'checking whether the server is ready', cause })
      return refuse(notReady('store', 'The store cannot be read. See the log of the server.'))
    } finally {
      cancel()
    }
  }

  return async () => {
    if (closing.aborted) return refuse(notReady('closing', 'The server is shutting down.'))
    if (last && now() < last.until) return last.result
    running ??= runCheck().finally(() => {
      running = null
    })
    const result = await running
    last = { until: now() + keptMs, result }
    return closing.aborted ? refuse(notReady('closing', 'The server is shutting down.')) : result
  }
}
