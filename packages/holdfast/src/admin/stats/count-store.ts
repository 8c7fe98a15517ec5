import { dayMs, fault, HoldfastError, ok, type Result, refuse, type Stats, type Tally } from '@holdfast/protocol'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { everySession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import { countSession, createSums } from './count-session.ts'
import { sizesOf } from './store-sizes.ts'
import { type Sum, tallyOf } from './tally.ts'

export type CountOptions = { readonly days: number; readonly nowMs: number }

/** Counts a store through, one bounded page after another. Reads only; a session that is gone counts no more. */
export async function countStore(place: DiskLocation, options: CountOptions): Promise<Result<Stats>> {
  const opened = await openReadOnlyStore(place)
  if (!opened.ok) return opened
  const source = opened.value
  if (source === null) return refuse(fault('not_found', `There is no store ${place.url}.`, { store: place.url }))
  try {
    return ok(lastDays(await count(source, place), options))
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  } finally {
    await source.close()
  }
}

/** The same figures with so many days, the one of `nowMs` the last. */
export function lastDays(stats: Stats, { days, nowMs }: CountOptions): Stats {
  const first = new Date(nowMs - (days - 1) * dayMs).toISOString().slice(0, 10)
  return { ...stats, days: stats.days.filter(({ day }) => day >= first) }
}

async function count(source: ReadOnlyStore, place: DiskLocation): Promise<Stats> {
  const sums = createSums()
  const sessions = { listed: 0, pinned: 0, trashed: 0, unspoken: 0 }
  const inWorkspace = new Map<string, number>()
  let records = 0
  for await (const session of everySession(source)) {
    records += session.head - session.base
    if (session.entry === null) continue
    const { entry, trashedAt } = session
    const { workspace, pinned } = entry.meta
    if (trashedAt !== null) sessions.trashed += 1
    else if (!entry.spoken) sessions.unspoken += 1
    else sessions.listed += 1
    if (pinned) sessions.pinned += 1
    if (entry.spoken) inWorkspace.set(workspace, (inWorkspace.get(workspace) ?? 0) + 1)
    await countSession(source, session, sums)
  }
  return {
    sessions,
    total: tallyOf(sums.total),
    days: tallies(sums.days)
      .toSorted(([left], [right]) => (left < right ? 1 : -1))
      .map(([day, tally]) => ({ day, ...tally })),
    models: largestFirst(tallies(sums.models)).map(([model, tally]) => ({ model, ...tally })),
    workspaces: largestFirst(tallies(sums.workspaces)).map(([workspace, tally]) => ({
      ...{ workspace, sessions: inWorkspace.get(workspace) ?? 0 },
      ...tally,
    })),
    store: { records, ...(await sizesOf(place)) },
  }
}

type Named = readonly [string, Tally]
const tallies = (sums: ReadonlyMap<string, Sum>): readonly Named[] =>
  [...sums].map(([name, sum]): Named => [name, tallyOf(sum)])
const largestFirst = (named: readonly Named[]): readonly Named[] =>
  named.toSorted(([, left], [, right]) => right.messages - left.messages)
