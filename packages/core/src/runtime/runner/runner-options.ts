import type { EventOf, Fault, Result, SessionId } from '@holdfast/protocol'
import type { RuntimeParts } from '../dependencies.ts'
import type { Folded, LoadedSession } from '../log/load-session.ts'
import type { StorageWatch } from '../storage-health.ts'

/** What a session is woken with. */
export type RunnerOptions = {
  readonly id: SessionId
  readonly epoch: number
  readonly parts: RuntimeParts
  readonly loaded: LoadedSession
  readonly storageWatch: StorageWatch
  /** Makes the session that a record names, if it is not there yet. */
  readonly fork: (from: Folded, forked: EventOf<'session.forked'>) => Promise<Result<unknown>>
  /** Something happened, on record or in the seats. */
  readonly touched: () => void
  /** The session can no longer be written here; the roster forgets it. */
  readonly abandoned: (fault: Fault) => void
}
