import { rename, rm } from 'node:fs/promises'
import type { NewSession } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf } from '../../storage-fault.ts'
import { sessionNotFound } from '../../store-faults.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { ForkIndex } from '../catalogue/fork-index.ts'
import type { SessionNames } from '../catalogue/session-names.ts'
import type { TrashFile } from '../catalogue/trash-file.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { type DirectorySync, writeTemporaryFile } from '../files/replace-file.ts'
import { createLogIndex } from '../log/log-index.ts'
import { encodeHeader } from '../log/log-line.ts'
import type { OpenLogs } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'
import { addToIndex, encodeWrite } from './append.ts'

export type SessionCreatorDeps = {
  readonly paths: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly forks: ForkIndex
  readonly names: SessionNames
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly trash: TrashFile
  readonly syncNames: DirectorySync
  readonly nextOrder: () => number
}

/** Creates sessions. A file gets its session's name only when it is complete and synced. */
export function createSessionCreator(deps: SessionCreatorDeps) {
  const { paths, rows, forks, names, logs, catalogue, trash, syncNames, nextOrder } = deps
  const creations = new Set<Promise<unknown>>()

  async function create(session: NewSession): Promise<Result<void>> {
    const { parent, base, owner, records, entry, blobs } = session
    const from = parent === null ? null : rows.get(parent)
    const taken = names.reserve(session)
    if (taken !== null) return refuse(taken)
    const row: SessionRow = {
      ...{ id: session.session, order: nextOrder(), parent, base, head: base + records.length, bytes: 0 },
      ...{ epoch: 1, owner, entry: structuredClone(entry), isShared: false, trashedAt: null },
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
      await syncNames.sync()
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
