import { uptime } from 'node:os'
import type { Cluster } from '@holdfast/core/ports'
import { HoldfastError } from '@holdfast/protocol'

/** A term is renewed this many times, so that one late answer ends nothing. */
const renewalsPerTerm = 5
const ticksPerRenewal = 4
/** Effects end when this part of a term has passed without a renewal: they need the rest to end. */
const usablePart = 0.82

type TermKeeperDeps = {
  readonly cluster: Pick<Cluster, 'termMs' | 'renew'>
  readonly id: string
  /** Stops all effects: the term ends soon, and this node could not renew it. */
  readonly onEnding: () => void
  /** Called when the term was renewed after `onEnding`. */
  readonly onKept: () => Promise<unknown>
  /** Joins again: the term had ended, or another node removed this one. */
  readonly onEnded: () => Promise<unknown>
  readonly onProblem: (cause: unknown) => void
  /** Milliseconds that pass also while the machine sleeps. */
  readonly now?: () => number
  /** Calls back again and again; the result ends it. A simulation brings its own. */
  readonly every?: (intervalMs: number, call: () => void) => () => void
}

function everyInterval(intervalMs: number, call: () => void): () => void {
  const timer = setInterval(call, intervalMs).unref()
  return () => clearInterval(timer)
}

/** Passes also while the machine sleeps, unlike `performance.now`, which is finer. */
function createAwakeClock(): () => number {
  const start = { fine: performance.now(), coarse: uptime() * 1000 }
  return () => Math.max(performance.now() - start.fine, uptime() * 1000 - start.coarse)
}

/**
 * Renews the term of this node. It counts from when a renewal was sent, so this node never believes in a term that the
 * store has ended already. The clock of this machine may be wrong: only the time that passed counts.
 */
export function startTermKeeper(deps: TermKeeperDeps) {
  const { cluster, id, onEnding, onKept, onEnded, onProblem } = deps
  const { now = createAwakeClock(), every = everyInterval } = deps
  let renewedAt = now()
  let isEnding = false
  let isRenewing = false
  let isClosed = false

  async function renew(): Promise<void> {
    const sentAt = now()
    const isKept = await cluster.renew(id)
    if (isClosed) return
    if (!isKept) {
      stopEffects() // also after a pause of this process, when no timer ran
      const joinedAt = now()
      await onEnded()
      renewedAt = joinedAt
    } else renewedAt = sentAt
    if (!isEnding) return
    isEnding = false
    try {
      await onKept()
    } catch (cause) {
      stopEffects() // the store was lost again meanwhile: the next renewal goes on
      throw cause
    }
  }

  function stopEffects(): void {
    if (isEnding) return
    isEnding = true
    onEnding()
  }

  /** Asks the store. During an outage every renewal fails; the sessions report that already. */
  function renewNow(): void {
    if (isRenewing) return
    isRenewing = true
    renew()
      .catch((cause) => (isClosed || isOutage(cause) ? undefined : onProblem(cause)))
      .finally(() => {
        isRenewing = false
      })
  }

  let ticks = 0
  const endTicks = every(cluster.termMs / renewalsPerTerm / ticksPerRenewal, () => {
    // Looked at more often than renewed, so that effects end in time.
    if (now() - renewedAt > cluster.termMs * usablePart) stopEffects()
    ticks = (ticks + 1) % ticksPerRenewal
    if (ticks === 0) renewNow()
  })
  return {
    /** Renews at once, as after a pause of this process. */
    renewNow,
    close(): void {
      isClosed = true
      endTicks()
    },
  }
}

const isOutage = (cause: unknown): boolean => cause instanceof HoldfastError && cause.code === 'storage_error'
