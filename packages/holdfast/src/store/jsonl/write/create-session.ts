import { rename, rm } from 'node:fs/promises'
import type { NewSession } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf } from '../../storage-fault.ts'
import { sessionNotFound } from '../../store-faults.ts'
import type { CatalogueFile } from '../catalogue/catalogue-file.ts'
import type { ForkIndex } from '../catalogue/fork-index.ts'
import { getNames, type SessionNames } from '../catalogue/session-names.ts'
import type { TrashFile } from '../catalogue/trash-file.ts'
import type { DirectorySync } from '../files/atomic-file.ts'
import { writeTemporaryFile } from '../files/atomic-file.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { createLogIndex } from '../log/log-index.ts'
import { encodeHeader } from '../log/log-line.ts'
import type { OpenLogs } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'
import { addToIndex, encodeWrite } from './append.ts'

export type SessionCreatorDeps = {
  readonly places: JsonlPaths
  readonly rows: Map<SessionId, SessionRow>
  readonly forks: ForkIndex
  readonly names: SessionNames
  readonly logs: OpenLogs
  readonly catalogue: CatalogueFile
  readonly trash: TrashFile
  readonly syncNames: DirectorySync
  readonly nextOrder: () => number
}

/** Makes sessions: a file has a session's name only once it is whole and synced. */
export function createSessionCreator(parts: SessionCreatorDeps) {
  const { places, rows, forks, names, logs, catalogue, trash, syncNames, nextOrder } = parts
  const underWay = new Set<Promise<unknown>>()

  async function create(session: NewSession): Promise<Result<void>> {
    const { parent, base, owner, records, entry, blobs } = session
    const from = parent === null ? null : rows.get(parent)
    const inTheWay = names.take(session)
    if (inTheWay !== null) return refuse(inTheWay)
    const row: SessionRow = {
      ...{ id: session.session, order: nextOrder(), parent, base, head: base + records.length, bytes: 0 },
      ...{ epoch: 1, owner, entry: structuredClone(entry), isShared: false, trashedAt: null },
    }
    if (from === undefined || (from !== null && from.head < base)) {
      names.free(getNames(row))
      return refuse(sessionNotFound(parent ?? row.id))
    }
    try {
      const header = encodeHeader({ session: row.id, parent, base, entry })
      const lines = encodeWrite(row.id, [{ after: base, records, clearDraft: false, blobs }])
      const text = `${header}${lines.map((line) => line.text).join('')}`
      await trash.cleared(row.id)
      await place(places.log(row.id, false), text)
      const index = createLogIndex(base)
      addToIndex({ index }, lines, Buffer.byteLength(header))
      row.bytes = Buffer.byteLength(text)
      rows.set(row.id, row)
      forks.add(row)
      logs.take(row, { index, end: row.bytes, lacksBreak: false, draftEndedAt: 0 })
      catalogue.changed(row)
      return done
    } catch (error) {
      names.free(getNames(row))
      return refuse(faultOf(error, places.directory))
    }
  }

  async function place(path: string, text: string): Promise<void> {
    const draft = await writeTemporaryFile(path, text)
    await rename(draft, path)
    try {
      await syncNames.sync()
    } catch (error) {
      await rm(path, { force: true }) // it was not acknowledged, and its names are free again
      throw error
    }
  }

  return {
    create(session: NewSession): Promise<Result<void>> {
      const creating = create(session)
      underWay.add(creating)
      const over = () => void underWay.delete(creating)
      creating.then(over, over)
      return creating
    },
    /** Resolves when every session that is being made now is there, or is not. */
    async settled(): Promise<void> {
      await Promise.allSettled(underWay)
    },
  }
}
