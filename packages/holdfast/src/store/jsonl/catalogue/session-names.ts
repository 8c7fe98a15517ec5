import type { NewSession, SessionLookup } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Fault } from '@holdfast/protocol/fault'
import { findSessions } from '../../memory/memory-catalogue.ts'
import * as faults from '../../store-faults.ts'
import { findRow, listRows, type SessionRow } from '../log/session-row.ts'

export type SessionNames = ReturnType<typeof createSessionNames>

/** Knows the ids, handles and keys in use, also by sessions that are still being written. */
export function createSessionNames(rows: ReadonlyMap<SessionId, SessionRow>) {
  const ids = new Set<SessionId>()
  const handles = new Map<string, SessionId>()
  const keys = new Map<string, SessionId>()

  function put(id: SessionId, { handle, key }: SessionRow['entry']['meta']): void {
    ids.add(id)
    if (!handles.has(handle)) handles.set(handle, id)
    if (key !== undefined && !keys.has(key)) keys.set(key, id)
  }
  const add = (row: SessionRow): void => (row.isShared ? void ids.add(row.id) : put(row.id, row.entry.meta))

  for (const [, row] of rows) add(row)
  return {
    /** Reserves the names of a new session, or returns a fault for the one already taken. */
    reserve({ session, entry }: NewSession): Fault | null {
      const { handle, key } = entry.meta
      if (ids.has(session)) return faults.sessionExists(session)
      const sameHandle = handles.get(handle)
      if (sameHandle !== undefined) return faults.handleTaken(handle, sameHandle)
      const sameKey = key === undefined ? undefined : keys.get(key)
      if (key !== undefined && sameKey !== undefined) return faults.keyTaken(key, sameKey)
      put(session, entry.meta)
      return null
    },
    add,
    free({ id, entry }: Pick<SessionRow, 'id' | 'entry'>): void {
      const { handle, key } = entry.meta
      ids.delete(id)
      if (handles.get(handle) === id) handles.delete(handle)
      if (key !== undefined && keys.get(key) === id) keys.delete(key)
    },
    findHandle: (handle: string) => handles.get(handle),
    findKey: (key: string) => keys.get(key),
  }
}

/** Finds sessions by name. An id, a handle or a key is looked up directly, without a walk over all rows. */
export function findRows(
  rows: ReadonlyMap<SessionId, SessionRow>,
  names: SessionNames,
  name: SessionLookup,
): readonly SessionId[] {
  // A reserved name may belong to a session that is still being written.
  const ifExists = (id: SessionId | undefined): readonly SessionId[] =>
    id !== undefined && findRow(rows, id) !== null ? [id] : []
  switch (name.type) {
    case 'id':
      return ifExists(name.id)
    case 'handle':
      return ifExists(names.findHandle(name.handle))
    case 'key':
      return ifExists(names.findKey(name.key))
    default:
      return findSessions(listRows(rows), name)
  }
}
