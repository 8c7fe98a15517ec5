import type { SessionName } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { findSessions } from '../../memory/memory-catalogue.ts'
import type { SessionRow } from '../log/session-row.ts'
import type { SessionNames } from './session-names.ts'

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
