import type { Charge, StoredCap } from '@holdfast/core/ports'
import type { CapScope, SessionId } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { addCharges, oldestDay, withCap, withoutCap } from '../../ledger.ts'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

/** The caps, and what was spent that no log has. */
type StoredSpending = {
  readonly caps: readonly StoredCap[]
  /** What purged sessions and sessions of other stores spent. */
  readonly added: readonly Charge[]
  /** What sessions spent whose logs are being removed. It counts once the log is gone. */
  readonly leaving: Readonly<Record<string, readonly Charge[]>>
}

export type SpendingFile = Awaited<ReturnType<typeof openSpendingFile>>

/** Reads the file. What a session spent whose log still exists is in that log. */
export async function readSpending(path: string, hasLog: (session: SessionId) => boolean) {
  const stored = (await readJsonIfExists(path)) as Partial<StoredSpending> | null // written by us
  const { caps = [], added = [], leaving = {} } = stored ?? {}
  const gone = Object.entries(leaving).filter(([session]) => !hasLog(session as SessionId)) // its keys are ids
  const isPending = Object.keys(leaving).length > 0
  return {
    isPending,
    spending: {
      caps,
      added: addCharges(
        added,
        gone.flatMap(([, charges]) => charges),
      ),
      leaving: {},
    },
  }
}

/** Opens the caps and what was spent that no log has. If the file is deleted, there are no caps, and both are forgotten. */
export async function openSpendingFile(path: string, hasLog: (session: SessionId) => boolean) {
  const read = await readSpending(path, hasLog)
  let spending: StoredSpending = read.spending
  const serialize = createSerialQueue()
  const write = (next: StoredSpending) => replaceFile(path, `${JSON.stringify(next, null, 2)}\n`)
  if (read.isPending) await write(spending)

  /** Writes first: a change counts only once it is on disk. `then` runs in the same moment as the change. */
  const change = (next: (known: StoredSpending) => StoredSpending, then?: () => void): Promise<void> =>
    serialize(async () => {
      const changed = next(spending)
      await write(changed)
      spending = changed
      then?.()
    })

  return {
    caps: (): readonly StoredCap[] => spending.caps.map((cap) => ({ ...cap })),
    added: (): readonly Charge[] => spending.added,
    setCap: (cap: StoredCap) => change((known) => ({ ...known, caps: withCap(known.caps, cap) })),
    async removeCap(scope: CapScope): Promise<boolean> {
      const before = spending.caps.length
      await change((known) => ({ ...known, caps: withoutCap(known.caps, scope) }))
      return spending.caps.length < before
    },
    add: (charge: Charge, then: () => void) =>
      change((known) => ({ ...known, added: addCharges(recent(known.added, charge.day), [charge]) }), then),

    /** Keeps what a session spent while `remove` removes its log. A crash in between neither loses nor doubles it. */
    async outliving(session: SessionId, charges: readonly Charge[], remove: () => Promise<void>): Promise<void> {
      if (charges.length === 0) return remove()
      await change((known) => ({ ...known, leaving: { ...known.leaving, [session]: charges } }))
      await remove()
      await change((known) => {
        const { [session]: _, ...leaving } = known.leaving
        return { ...known, added: addCharges(known.added, charges), leaving }
      })
    },
    settled: () => serialize(async () => undefined),
  }
}

const recent = (charges: readonly Charge[], today: string): readonly Charge[] =>
  charges.filter(({ day }) => day >= oldestDay(today))
