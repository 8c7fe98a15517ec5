import { copyFile, open, rename, rm, truncate } from 'node:fs/promises'
import type { SessionId } from '@holdfast/protocol'
import { draftMark } from '../../temporary-path.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { ForkIndex } from '../catalogue/fork-index.ts'
import { getNames, type SessionNames } from '../catalogue/session-names.ts'
import type { TrashFile } from '../catalogue/trash-file.ts'
import type { DirectorySync } from '../files/atomic-file.ts'
import type { JsonlPaths } from '../files/layout.ts'
import type { OpenLogs } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

export type SessionRemoverDeps = {
  readonly places: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly forks: ForkIndex
  readonly names: SessionNames
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly trash: TrashFile
  readonly syncNames: DirectorySync
}

/** Removes sessions for good, but for what their forks share. Its caller sees to it that nobody changes them meanwhile. */
export function createSessionRemover({
  places,
  rows,
  forks,
  names,
  logs,
  catalogue,
  trash,
  syncNames,
}: SessionRemoverDeps) {
  const leaving = new Set<SessionRow>()

  /** Keeps of a session what its forks read; without forks nothing, and then perhaps nothing of its own parent either. */
  async function remove(row: SessionRow): Promise<void> {
    leaving.add(row)
    try {
      const children = forks.of(row.id)
      if (children.length > 0) return await shrink(row, Math.max(...children.map(({ base }) => base)))
      await erase(row)
    } finally {
      leaving.delete(row)
    }
    const above = row.parent === null ? undefined : rows.get(row.parent)
    if (above?.isShared === true) await remove(above)
  }

  async function erase(row: SessionRow): Promise<void> {
    await logs.letGo(row.id)
    await rm(places.log(row.id, row.isShared), { force: true })
    await removeSides(row.id)
    await syncNames.sync()
    rows.delete(row.id)
    forks.remove(row)
    names.free(getNames(row))
    catalogue.removed(row.id)
    trash.forget(row.id)
  }

  async function shrink(row: SessionRow, base: number): Promise<void> {
    const { index } = await logs.of(row)
    const kept = index.pick({ from: row.base + 1, upTo: base, limit: base, newestFirst: false, types: null })
    const end = kept.reduce((last, seq) => {
      const place = index.placeOf(seq)
      return place === null ? last : place.offset + place.bytes + 1
    }, 0)
    const [path, draft] = [places.log(row.id, row.isShared), `${places.log(row.id, true)}${draftMark}${process.pid}`]
    await copyFile(path, draft)
    if (end > 0) await truncate(draft, end)
    await using file = await open(draft, 'r+')
    await file.chmod(0o600)
    await file.sync()
    await logs.letGo(row.id)
    await rename(draft, places.log(row.id, true))
    if (!row.isShared) await rm(path, { force: true })
    await removeSides(row.id)
    await syncNames.sync()
    if (!row.isShared) names.free(getNames(row))
    ;[row.isShared, row.head, row.bytes, row.trashedAt] = [true, base, (await file.stat()).size, null]
    trash.forget(row.id)
    names.add(row)
    catalogue.changed(row)
  }

  async function removeSides(id: SessionId): Promise<void> {
    for (const path of [places.draft(id), places.snapshot(id)]) await rm(path, { force: true })
  }

  return {
    remove,
    hasForks: (id: SessionId): boolean => forks.of(id).length > 0,
    /** Whether it is being removed: its file may be gone before its row is. */
    isLeaving: (row: SessionRow): boolean => leaving.has(row),
  }
}
