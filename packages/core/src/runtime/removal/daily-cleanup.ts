import { dayMs, limits, type Removal } from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { emptyTrash } from './empty-trash.ts'
import { sweepBlobs } from './removals.ts'
import { trashMany } from './trash-many.ts'

/** A process that ends soon after its start has no time to look at every blob there is. */
const firstSweepMs = 10 * 60_000

/** Sessions in which nobody spoke for so long are put into the trash, once a day. */
export type Retention = {
  readonly days: number
  /** Hears of it when there were any. */
  readonly onPruned?: ((removal: Removal) => void) | undefined
}

/** What is done behind everyone's back: what lay in the trash for long enough goes, and bytes that nobody refers to. */
export interface DailyCleanup {
  /** Ends it, and waits for the step that is under way: the rest is done another day. */
  close(): Promise<void>
}

/** Begins at once, without holding anyone up, and comes back every day. */
export function startDailyCleanup(registry: SessionRegistry, retention: Retention | null = null): DailyCleanup {
  const { clock, onProblem } = registry.parts
  const closing = new AbortController()
  let underWay: Promise<void> = Promise.resolve()
  let cancelDay = () => {}

  /** One thing after the other; what comes to grief is told, and tried again tomorrow. */
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
      sparesDamaged: true, // only a person may remove what could be mended
      signal: closing.signal,
    })
    if (!emptied.ok) onProblem({ where: 'emptying the trash', cause: emptied.fault })
  }
  const sweep = async () => {
    await sweepBlobs(registry.parts, closing.signal)
  }
  const everyDay = () => {
    cancelDay = clock.after(dayMs, () => {
      enqueue('keeping house', tidy)
      enqueue('sweeping blobs', sweep)
      everyDay()
    })
  }

  enqueue('keeping house', tidy)
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
  const { clock, onProblem } = registry.parts
  const pruned = await trashMany(registry, { activeBefore: clock.now() - days * dayMs, dryRun: false, signal })
  if (!pruned.ok) onProblem({ where: 'retention', cause: pruned.fault })
  else if (pruned.value.count > 0) onPruned?.(pruned.value)
}
