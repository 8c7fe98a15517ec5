import type { EventOf, Fault, Result, SessionId } from '@holdfast/protocol'
import type { RuntimeDeps } from '../dependencies.ts'
import type { Folded, LoadedSession } from '../log/load-session.ts'
import type { StorageHealth } from '../storage-health.ts'

/** What a session is woken with. */
export type RunnerOptions = {
  readonly id: SessionId
  readonly epoch: number
  readonly parts: RuntimeDeps
  readonly loaded: LoadedSession
  readonly storageWatch: StorageHealth
  /** Makes the session that a record names, if it is not there yet. */
  readonly fork: (from: Folded, forked: EventOf<'session.forked'>) => Promise<Result<unknown>>
  /** Something happened, on record or in the seats. */
  readonly touched: () => void
  /** The session can no longer be written here; the registry forgets it. */
  readonly abandoned: (fault: Fault) => void
}
