import { ok, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { Store } from '../../ports/store/store.ts'
import { findSession } from '../log/find-session.ts'
import { type Folded, loadSession } from '../log/load-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'

/** Refuses to read a session in the trash, as a server does, and any session once the runtime is closed. */
export async function checkReadable(registry: SessionRegistry, id: SessionId): Promise<Result<unknown>> {
  const closed = registry.closedFault()
  if (closed) return refuse(closed)
  return registry.loaded(id) ? ok(null) : findSession(registry.stores, id)
}

/** Returns the current folds, of a running session or from the store. */
export async function readFolded(registry: SessionRegistry, store: Store, id: SessionId): Promise<Result<Folded>> {
  const runner = registry.loaded(id)
  if (runner) return ok(runner.folded())
  const readable = await checkReadable(registry, id)
  return readable.ok ? loadSession(store, id) : readable
}
