import { crc32 } from 'node:zlib'
import type { Catalogue, CatalogueEntry, Log, OnProblem, Snapshots } from '@holdfast/core/ports'
import { Handle, type SessionId } from '@holdfast/protocol'
import { placeholderMeta } from '../../placeholder-meta.ts'
import type { FoundLog, JsonlPaths } from '../files/layout.ts'
import { type LoadedLog, loadLog } from '../log/load-log.ts'
import { reportTornTail } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

/** Folds a session's log into its catalogue entry; null if it cannot be folded. Core provides it, to avoid an import. */
export type EntryOfLog = (
  source: Pick<Log, 'read'> & Pick<Catalogue, 'entry'> & Pick<Snapshots, 'loadSnapshot'>,
  session: SessionId,
) => Promise<CatalogueEntry | null>

type RebuildDeps = {
  readonly paths: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly logs: { add(row: SessionRow, loaded: LoadedLog): void }
  readonly onProblem: OnProblem
  /** Leaves a half-written end in place and does not report it, for read-only callers. */
  readonly leavesTail?: boolean
}

const loadsAtOnceMax = 16

type UnknownLog = { readonly found: FoundLog; readonly known: SessionRow | null }

/** Adds the catalogue's row of each log whose size matches it; returns the other logs. */
export function addKnownRows(
  rows: Map<SessionId, SessionRow>,
  catalogued: ReadonlyMap<SessionId, SessionRow>,
  logs: readonly FoundLog[],
): readonly UnknownLog[] {
  const unknown: UnknownLog[] = []
  for (const found of logs) {
    const known = catalogued.get(found.id) ?? null
    if (known !== null && known.isShared === found.isShared && known.bytes === found.bytes) rows.set(found.id, known)
    else unknown.push({ found, known })
  }
  return unknown
}

/** Rebuilds the rows of these sessions from their logs. A file that is not a log is left alone. */
export async function rebuildRows(
  { paths, rows, logs, onProblem, leavesTail = false }: RebuildDeps,
  unknown: readonly UnknownLog[],
): Promise<readonly SessionRow[]> {
  const rebuilt: SessionRow[] = []
  let order = Math.max(lastOrder(rows.values()), lastOrder(unknown.flatMap(({ known }) => known ?? [])))
  // Ids sort by creation time.
  const inOrder = unknown.toSorted((left, right) => (left.found.id < right.found.id ? -1 : 1))
  for (let from = 0; from < inOrder.length; from += loadsAtOnceMax) {
    const batch = inOrder.slice(from, from + loadsAtOnceMax)
    const loaded = await Promise.all(
      batch.map(({ found: { id, isShared }, known }) =>
        loadLog({ path: paths.log(id, isShared), session: id, known, isShared, leavesTail }),
      ),
    )
    for (const [index, { found, known }] of batch.entries()) {
      const log = loaded[index] ?? null
      if (log === null) continue
      if (!leavesTail) reportTornTail(log, onProblem)
      if (known === null) order += 1
      const row = createRow(found, known, log, order)
      rows.set(row.id, row)
      logs.add(row, log)
      rebuilt.push(row)
    }
  }
  return rebuilt
}

function createRow({ id, isShared }: FoundLog, known: SessionRow | null, log: LoadedLog, order: number): SessionRow {
  return {
    id,
    order: known?.order ?? order,
    parent: log.parent,
    base: log.base,
    head: log.index.head(),
    bytes: log.end,
    epoch: known?.epoch ?? 1,
    owner: known?.owner ?? null,
    entry: findKnownEntry(id, log, known),
    isShared,
    trashedAt: null,
  }
}

export function lastOrder(rows: Iterable<SessionRow>): number {
  let last = 0
  for (const { order } of rows) last = Math.max(last, order)
  return last
}

/** Returns the best known entry of a log that may not fold: the stored one, marked as spoken if more than its start exists. */
function findKnownEntry(
  id: SessionId,
  { header, index, base, lastAt }: LoadedLog,
  known: SessionRow | null,
): CatalogueEntry {
  const entry = known?.entry ?? header?.entry ?? createPlaceholderEntry(id, lastAt)
  const isLost = (): boolean =>
    index.select({ from: base + 1, upTo: base + 1, limit: 1, newestFirst: false, types: new Set() }).length > 0
  return { ...entry, spoken: entry.spoken || index.head() > base + 1 || isLost() }
}

const handleNumbers = 1_000_000
const damagedAt = '1970-01-01T00:00:00.000Z'

/** Creates a placeholder entry, so that a session with an unreadable start is still listed. */
function createPlaceholderEntry(id: SessionId, lastAt: string | null): CatalogueEntry {
  const at = lastAt ?? damagedAt
  const handle = Handle.parse(`lost-session-${crc32(id) % handleNumbers}`)
  const meta = placeholderMeta({ id, handle, title: 'Damaged session' }, at)
  return { meta, spoken: true, busy: false, activeAt: Date.parse(at) }
}
