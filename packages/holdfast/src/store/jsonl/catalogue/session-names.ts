import type { NewSession, SessionName } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Fault } from '@holdfast/protocol/fault'
import { findSessions } from '../../memory/memory-catalogue.ts'
import * as faults from '../../store-faults.ts'
import type { SessionRow } from '../log/session-row.ts'

type Names = { readonly id: SessionId; readonly handle: string; readonly key: string | undefined }

/** Which names are taken, also by sessions that are still being written. */
export interface SessionNames {
  /** Takes the names of a new session, or says which one is taken. */
  take(session: NewSession): Fault | null
  add(row: SessionRow): void
  free(names: Names): void
  ofHandle(handle: string): SessionId | undefined
  ofKey(key: string): SessionId | undefined
}

export const getNames = ({ id, entry }: Pick<SessionRow, 'id' | 'entry'>): Names => ({
  id,
  handle: entry.meta.handle,
  key: entry.meta.key,
})

export function createSessionNames(): SessionNames {
  const ids = new Set<SessionId>()
  const handles = new Map<string, SessionId>()
  const keys = new Map<string, SessionId>()

  function put({ id, handle, key }: Names): void {
    ids.add(id)
    if (!handles.has(handle)) handles.set(handle, id)
    if (key !== undefined && !keys.has(key)) keys.set(key, id)
  }

  return {
    take({ session, entry }) {
      const { handle, key } = entry.meta
      if (ids.has(session)) return faults.sessionExists(session)
      const sameHandle = handles.get(handle)
      if (sameHandle !== undefined) return faults.handleTaken(handle, sameHandle)
      const sameKey = key === undefined ? undefined : keys.get(key)
      if (key !== undefined && sameKey !== undefined) return faults.keyTaken(key, sameKey)
      put({ id: session, handle, key })
      return null
    },
    add: (row) => (row.isShared ? void ids.add(row.id) : put(getNames(row))),
    free({ id, handle, key }) {
      ids.delete(id)
      if (handles.get(handle) === id) handles.delete(handle)
      if (key !== undefined && keys.get(key) === id) keys.delete(key)
    },
    ofHandle: (handle) => handles.get(handle),
    ofKey: (key) => keys.get(key),
  }
}

type Named = Pick<SessionNames, 'ofHandle' | 'ofKey'>

/** Finds sessions by what they are called: those that have a name of their own without looking at any other. */
export function createFindRows(rows: ReadonlyMap<SessionId, SessionRow>, names: Named) {
  // A name may be taken by one that is still being written.
  const ifThere = (id: SessionId | undefined): readonly SessionId[] =>
    id !== undefined && rows.get(id)?.isShared === false ? [id] : []

  return (name: SessionName): readonly SessionId[] => {
    switch (name.type) {
      case 'id':
        return ifThere(name.id)
      case 'handle':
        return ifThere(names.ofHandle(name.handle))
      case 'key':
        return ifThere(names.ofKey(name.key))
      default:
        return findSessions(
          rows
            .values()
            .filter(({ isShared }) => !isShared)
            .toArray(),
          name,
        )
    }
  }
}
