import { stat } from 'node:fs/promises'
import type { Charge, SpendingRows } from '@holdfast/core/ports'
import type { Day, SessionId } from '@holdfast/protocol'
import { createDaySums, type DaySums } from '../../ledger.ts'
import type { JsonlPaths } from '../files/layout.ts'
import type { SpendingFile } from '../files/spending-file.ts'
import type { OpenLogs } from '../log/open-logs.ts'
import { findRow, type SessionRow } from '../log/session-row.ts'

type LedgerDeps = {
  readonly paths: JsonlPaths
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly logs: Pick<OpenLogs, 'get'>
  readonly file: SpendingFile
  /** Runs work while nothing else changes the session. */
  readonly runExclusive: <Value>(session: SessionId, work: () => Promise<Value>) => Promise<Value>
}

/** A day whose sums are kept. `pending` has the sessions whose logs are not read yet. */
type KnownDay = {
  readonly sums: DaySums
  readonly pending: Set<SessionId>
  isComplete: boolean
  readonly loaded: Promise<void>
}

const daysKept = 2

/**
 * Sums up what was spent. The logs say it: the first question about a day reads those that were written since it began,
 * and later appends are added. So a crash can neither lose nor double a charge, and an append writes nothing else.
 */
export function createSpendingLedger({ paths, rows, logs, file, runExclusive }: LedgerDeps) {
  const days = new Map<Day, KnownDay>()

  async function readSession(session: SessionId, day: Day, sums: DaySums): Promise<void> {
    const row = findRow(rows, session)
    if (row === null || !(await wasWrittenSince(row, day))) return
    const { index } = await logs.get(row)
    for (const charge of index.charges()) if (charge.day === day) sums.add(charge)
  }

  async function wasWrittenSince({ id, isShared, entry }: SessionRow, day: Day): Promise<boolean> {
    const { mtimeMs } = await stat(paths.log(id, isShared))
    return Math.max(mtimeMs, entry.activeAt) >= Date.parse(day)
  }

  function load(day: Day): KnownDay {
    const sums = createDaySums()
    const pending = new Set([...rows.values()].flatMap(({ id, isShared }) => (isShared ? [] : [id])))
    const fill = async (): Promise<void> => {
      for (const session of [...pending]) {
        await runExclusive(session, async () => {
          await readSession(session, day, sums)
          pending.delete(session)
        })
      }
      for (const charge of file.added()) if (charge.day === day) sums.add(charge)
      known.isComplete = true
    }
    const known: KnownDay = { sums, pending, isComplete: false, loaded: Promise.resolve().then(fill) }
    known.loaded.catch(() => days.delete(day)) // the next question tries again, and this one reports it
    days.set(day, known)
    const [oldest] = [...days.keys()].toSorted()
    if (days.size > daysKept && oldest !== undefined && oldest !== day) days.delete(oldest)
    return known
  }

  async function sumsOf(day: Day): Promise<DaySums> {
    const known = days.get(day) ?? load(day)
    await known.loaded
    return known.sums
  }

  return {
    spentOn: async (day, of) => (await sumsOf(day)).of(of),
    listSpending: async (day, limit) => (await sumsOf(day)).list(limit),
    /** Adds the charge of an append. A log that is not read yet has it already. */
    charged(session: SessionId, charge: Charge): void {
      const known = days.get(charge.day)
      if (known && !known.pending.has(session)) known.sums.add(charge)
    },
    /** Adds a charge that no log has. */
    addCharge: (charge: Charge) =>
      file.add(charge, () => {
        const known = days.get(charge.day)
        if (known?.isComplete) known.sums.add(charge)
      }),
    /** Resolves when no log is being read for a sum: then a session can be removed. */
    async settled(): Promise<void> {
      await Promise.allSettled([...days.values()].map(({ loaded }) => loaded))
    },
  } satisfies Pick<SpendingRows, 'spentOn' | 'listSpending'> & Record<string, unknown>
}

export type SpendingLedger = ReturnType<typeof createSpendingLedger>
