import { dayMs, limits, type Removal } from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { emptyTrash } from './removals.ts'
import { sweepBlobs, sweepTokens } from './sweeps.ts'
import { trashMany } from './trash.ts'

/** The first sweep is delayed: a short-lived process should not read every blob. */
const firstSweepMs = 10 * 60_000

/** Moves sessions without activity for `days` to the trash, once a day. */
export type Retention = {
  /** After how many days without a message a session goes to the trash. */
  readonly days: number
  /** Called when sessions were moved. */
  readonly onPruned?: ((removal: Removal) => void) | undefined
}

/** The daily background work: deletes old sessions in the trash and unreferenced blobs. */
export interface DailyCleanup {
  /** Stops after the step under way; the rest is done another day. */
  close(): Promise<void>
}

/** Starts in the background, and again every day. */
export function startDailyCleanup(registry: SessionRegistry, retention: Retention | null = null): DailyCleanup {
  const { clock, onProblem } = registry.deps
  const closing = new AbortController()
  let underWay: Promise<void> = Promise.resolve()
  let cancelDay = () => {}

  /** Runs work in order. A failure is reported, and the work is tried again the next day. */
  const enqueue = (where: string, work: () => Promise<void>) => {
    underWay = underWay
      .then(() => (closing.signal.aborted ? undefined : work()))
      .catch((cause) => onProblem({ where, cause }))
  }

  const tidy = async () => {
    if (retention) await retain(registry, retention, closing.signal)
    if (closing.signal.aborted) return
    const emptied = await emptyTrash(registry, {
      beforeMs: clock.now() - limits.trashKeptMs,
      dryRun: false,
      sparesDamaged: true, // only a person may delete a session that could be repaired
      signal: closing.signal,
    })
    if (!emptied.ok) onProblem({ where: 'emptying the trash', cause: emptied.fault })
    await sweepTokens(registry)
  }
  const sweep = async () => {
    await sweepBlobs(registry.deps, closing.signal)
  }
  const everyDay = () => {
    cancelDay = clock.after(dayMs, () => {
      enqueue('daily cleanup', tidy)
      enqueue('sweeping blobs', sweep)
      everyDay()
    })
  }

  enqueue('daily cleanup', tidy)
  const cancelSweep = clock.after(firstSweepMs, () => enqueue('sweeping blobs', sweep))
  everyDay()
  return {
    async close() {
      closing.abort()
      cancelSweep()
      cancelDay()
      await underWay
    },
  }
}

async function retain(registry: SessionRegistry, { days, onPruned }: Retention, signal: AbortSignal): Promise<void> {
  const { clock, onProblem } = registry.deps
  const pruned = await trashMany(registry, { activeBefore: clock.now() - days * dayMs, dryRun: false, signal })
  if (!pruned.ok) onProblem({ where: 'retention', cause: pruned.fault })
  else if (pruned.value.count > 0) onPruned?.(pruned.value)
}
