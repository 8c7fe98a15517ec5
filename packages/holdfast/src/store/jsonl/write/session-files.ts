import { copyFile, open, readdir, rename, rm, truncate } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { NewSession } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { temporaryMark } from '../../disk.ts'
import { faultOf } from '../../storage-fault.ts'
import { sessionNotFound } from '../../store-faults.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { ForkIndex } from '../catalogue/fork-index.ts'
import type { SessionNames } from '../catalogue/session-names.ts'
import type { TrashFile } from '../catalogue/trash-file.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { writeTemporaryFile } from '../files/replace-file.ts'
import { createLogIndex } from '../log/log-index.ts'
import { encodeHeader } from '../log/log-line.ts'
import type { OpenLogs } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'
import { addToIndex, encodeWrite } from './append.ts'

type SessionFilesDeps = {
  readonly paths: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly forks: ForkIndex
  readonly names: SessionNames
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly trash: TrashFile
  readonly syncNames: () => Promise<void>
}

/** Creates sessions. A file gets its session's name only when it is complete and synced. */
export function createSessionCreator(deps: SessionFilesDeps & { readonly nextOrder: () => number }) {
  const { paths, rows, forks, names, logs, catalogue, trash, syncNames, nextOrder } = deps
  const creations = new Set<Promise<unknown>>()

  async function create(session: NewSession): Promise<Result<void>> {
    const { parent, base, owner, records, entry, blobs } = session
    const from = parent === null ? null : rows.get(parent)
    const taken = names.reserve(session)
    if (taken !== null) return refuse(taken)
    const row: SessionRow = {
      id: session.session,
      order: nextOrder(),
      parent,
      base,
      head: base + records.length,
      bytes: 0,
      epoch: 1,
      owner,
      entry: structuredClone(entry),
      isShared: false,
      trashedAt: null,
    }
    if (from === undefined || (from !== null && from.head < base)) {
      names.free(row)
      return refuse(sessionNotFound(parent ?? row.id))
    }
    try {
      const header = encodeHeader({ session: row.id, parent, base, entry })
      const lines = encodeWrite(row.id, [{ after: base, records, clearDraft: false, blobs }])
      const text = `${header}${lines.map((line) => line.text).join('')}`
      await trash.cleared(row.id)
      await putFile(paths.log(row.id, false), text)
      const index = createLogIndex(base)
      addToIndex({ index }, lines, Buffer.byteLength(header))
      row.bytes = Buffer.byteLength(text)
      rows.set(row.id, row)
      forks.add(row)
      logs.add(row, { index, end: row.bytes, lacksBreak: false, draftEndedAt: 0 })
      catalogue.changed(row)
      return done
    } catch (error) {
      names.free(row)
      return refuse(faultOf(error, paths.directory))
    }
  }

  async function putFile(path: string, text: string): Promise<void> {
    const temporary = await writeTemporaryFile(path, text)
    await rename(temporary, path)
    try {
      await syncNames()
    } catch (error) {
      await rm(path, { force: true }) // it was not acknowledged, and its names become free again
      throw error
    }
  }

  return {
    create(session: NewSession): Promise<Result<void>> {
      const creating = create(session)
      creations.add(creating)
      const remove = () => void creations.delete(creating)
      creating.then(remove, remove)
      return creating
    },
    /** Resolves when every creation in progress has succeeded or failed. */
    async settled(): Promise<void> {
      await Promise.allSettled(creations)
    },
  }
}

/** Purges sessions, except for the records that their forks share. The caller must hold the session exclusively. */
export function createSessionRemover(deps: SessionFilesDeps) {
  const { paths, rows, forks, names, logs, catalogue, trash, syncNames } = deps
  const removing = new Set<SessionRow>()

  /** Shrinks a session to what its forks read, or erases it. Then also erases a purged parent that no fork needs now. */
  async function remove(row: SessionRow): Promise<void> {
    removing.add(row)
    try {
      const children = forks.of(row.id)
      if (children.length > 0) return await shrink(row, Math.max(...children.map(({ base }) => base)))
      await erase(row)
    } finally {
      removing.delete(row)
    }
    const parent = row.parent === null ? undefined : rows.get(row.parent)
    if (parent?.isShared === true) await remove(parent)
  }

  async function erase(row: SessionRow): Promise<void> {
    await logs.release(row.id)
    await rm(paths.log(row.id, row.isShared), { force: true })
    await removeSideFiles(row.id)
    await syncNames()
    rows.delete(row.id)
    forks.remove(row)
    names.free(row)
    catalogue.removed(row.id)
    trash.forget(row.id)
  }

  async function shrink(row: SessionRow, base: number): Promise<void> {
    const { index } = await logs.get(row)
    const kept = index.select({ from: row.base + 1, upTo: base, limit: base, newestFirst: false, types: null })
    const end = kept.reduce((last, seq) => {
      const position = index.positionOf(seq)
      return position === null ? last : position.offset + position.bytes + 1
    }, 0)
    const [path, temporary] = [
      paths.log(row.id, row.isShared),
      `${paths.log(row.id, true)}${temporaryMark}${process.pid}`,
    ]
    await copyFile(path, temporary)
    if (end > 0) await truncate(temporary, end)
    await using file = await open(temporary, 'r+')
    await file.chmod(0o600)
    await file.sync()
    await logs.release(row.id)
    await rename(temporary, paths.log(row.id, true))
    if (!row.isShared) await rm(path, { force: true })
    await removeSideFiles(row.id)
    await syncNames()
    if (!row.isShared) names.free(row)
    ;[row.isShared, row.head, row.bytes, row.trashedAt] = [true, base, (await file.stat()).size, null]
    trash.forget(row.id)
    names.add(row)
    catalogue.changed(row)
  }

  /** A copy that was saved when the log lost its name is one of them: a repair would bring the session back. */
  async function removeSideFiles(id: SessionId): Promise<void> {
    const log = paths.log(id, false)
    const saved = (await readdir(dirname(log))).filter((name) => name.startsWith(`${basename(log)}.recovered-`))
    const copies = saved.map((name) => join(dirname(log), name))
    for (const path of [paths.draft(id), paths.snapshot(id), ...copies]) await rm(path, { force: true })
  }

  return {
    remove,
    hasForks: (id: SessionId): boolean => forks.of(id).length > 0,
    /** Returns whether a session is being removed: its file may be gone before its row is. */
    isBeingRemoved: (row: SessionRow): boolean => removing.has(row),
  }
}
