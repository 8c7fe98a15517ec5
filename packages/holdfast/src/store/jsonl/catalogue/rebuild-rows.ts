import { crc32 } from 'node:zlib'
import type { Catalogue, CatalogueEntry, Log, OnProblem, Snapshots } from '@holdfast/core/ports'
import { Handle, type SessionId } from '@holdfast/protocol'
import { placeholderMeta } from '../../placeholder-meta.ts'
import type { FoundLog, JsonlPaths } from '../files/layout.ts'
import { type LoadedLog, loadLog } from '../log/load-log.ts'
import { type OpenLogs, reportTornTail } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

/** Folds a session's log into its row; null when it cannot be folded. Core knows how, and whoever opens the store hands it in. */
export type EntryOfLog = (
  source: Pick<Log, 'read'> & Pick<Catalogue, 'entry'> & Pick<Snapshots, 'loadSnapshot'>,
  session: SessionId,
) => Promise<CatalogueEntry | null>

export type RebuildDeps = {
  readonly places: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly logs: Pick<OpenLogs, 'take'>
  readonly onProblem: OnProblem
  /** For whoever only looks: what a crash left half-written stays where it is, and is not told. */
  readonly leavesTail?: boolean
}

const loadsAtOnceMax = 16

type Unknown = { readonly found: FoundLog; readonly known: SessionRow | null }

/** Fills the rows from what the catalogue says, where the file is as it says; returns the others. */
export function addKnownRows(
  rows: Map<SessionId, SessionRow>,
  catalogued: ReadonlyMap<SessionId, SessionRow>,
  logs: readonly FoundLog[],
): readonly Unknown[] {
  const unknown: Unknown[] = []
  for (const found of logs) {
    const known = catalogued.get(found.id) ?? null
    if (known !== null && known.isShared === found.isShared && known.bytes === found.bytes) rows.set(found.id, known)
    else unknown.push({ found, known })
  }
  return unknown
}

/** Makes the rows of these sessions anew from their logs. A file that is no log is left alone. */
export async function rebuildRows(
  { places, rows, logs, onProblem, leavesTail = false }: RebuildDeps,
  unknown: readonly Unknown[],
): Promise<readonly SessionRow[]> {
  const made: SessionRow[] = []
  let order = Math.max(lastOrder(rows.values()), lastOrder(unknown.flatMap(({ known }) => known ?? [])))
  // Ids are born in their order.
  const inOrder = unknown.toSorted((left, right) => (left.found.id < right.found.id ? -1 : 1))
  for (let from = 0; from < inOrder.length; from += loadsAtOnceMax) {
    const some = inOrder.slice(from, from + loadsAtOnceMax)
    const loaded = await Promise.all(
      some.map(({ found: { id, isShared }, known }) =>
        loadLog({ path: places.log(id, isShared), session: id, known, isShared, leavesTail }),
      ),
    )
    for (const [index, { found, known }] of some.entries()) {
      const log = loaded[index] ?? null
      if (log === null) continue
      if (!leavesTail) reportTornTail(log, onProblem)
      if (known === null) order += 1
      const row = rowOf(found, known, log, order)
      rows.set(row.id, row)
      logs.take(row, log)
      made.push(row)
    }
  }
  return made
}

function rowOf({ id, isShared }: FoundLog, known: SessionRow | null, log: LoadedLog, order: number): SessionRow {
  return {
    ...{ id, order: known?.order ?? order, parent: log.parent, base: log.base },
    ...{ head: log.index.head(), bytes: log.end, epoch: known?.epoch ?? 1, owner: known?.owner ?? null },
    ...{ entry: entryWithoutFold(id, log, known), isShared, trashedAt: null },
  }
}

export function lastOrder(rows: Iterable<SessionRow>): number {
  let last = 0
  for (const { order } of rows) last = Math.max(last, order)
  return last
}

/** What is known of a session whose log cannot be folded: its row when it was last written, and that someone spoke. */
function entryWithoutFold(
  id: SessionId,
  { header, index, lastAt }: LoadedLog,
  known: SessionRow | null,
): CatalogueEntry {
  const entry = known?.entry ?? header?.entry ?? damagedEntry(id, lastAt)
  const said = index.pick({ from: 1, upTo: index.head(), limit: 1, newestFirst: false, types: new Set(['user.said']) })
  return { ...entry, spoken: entry.spoken || said.length > 0 }
}

const handleNumbers = 1_000_000
const damagedAt = '1970-01-01T00:00:00.000Z'

/** Neither its first line nor its first record can be read: it is listed all the same, so that it can be shown. */
function damagedEntry(id: SessionId, lastAt: string | null): CatalogueEntry {
  const at = lastAt ?? damagedAt
  const handle = Handle.parse(`lost-session-${crc32(id) % handleNumbers}`)
  const meta = placeholderMeta({ id, handle, title: 'Damaged session' }, at)
  return { meta, spoken: true, busy: false, activeAt: Date.parse(at) }
}
