import type { Event, Handle, Result, SessionId } from '@holdfast/protocol'
import type { Catalogue } from '../../ports/store/catalogue.ts'
import type { Store } from '../../ports/store/store.ts'
import type { RunInBackground } from '../background-tasks.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { SessionRunner } from '../runner/session-runner.ts'

/** What subagents need of the sessions of this process. */
export type SubagentHost = {
  readonly deps: NodeDeps
  readonly rows: Pick<Catalogue, 'entry' | 'list'>
  readonly inBackground: RunInBackground
  storeOf(id: SessionId): Store
  /** Returns the dependencies with the store and the blobs of a session. */
  depsOf(id: SessionId): NodeDeps
  load(id: SessionId): Promise<Result<SessionRunner>>
  loaded(id: SessionId): SessionRunner | null
  unload(id: SessionId, reason: 'stopped' | 'closing'): Promise<void>
  /** Whether another live node owns the session. */
  isElsewhere(id: SessionId): Promise<boolean>
  /** Writes the first records of a new session, owned by this process. */
  create(id: SessionId, events: (handle: Handle) => readonly Event[]): Promise<Result<SessionId>>
}
