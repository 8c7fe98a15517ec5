import { ok, type Result, type Seq, type SessionHandle, type SessionId } from '@holdfast/protocol'
import type { Models } from '../../ports/provider.ts'
import type { Catalogue } from '../../ports/store/catalogue.ts'
import { busyOwners, type Leases, type NodeRow, ownedStatus } from '../../ports/store/lease.ts'
import { loadSession, type SessionSource } from '../log/load-session.ts'
import type { LineReader } from '../log/read-page.ts'
import { findLiveOwners } from '../registry/ownership.ts'
import { modelStatus } from '../stream/hub.ts'
import { showWaiting } from '../subagents/waiting-children.ts'
import { createSessionReader } from './session-reader.ts'

type ReadMethod = 'snapshot' | 'state' | 'page' | 'messages' | 'branches' | 'clientEvents' | 'fileChanges'

/** A stored session as of the moment it was opened, for a process that does not run it. */
export interface StoredHandle extends Pick<SessionHandle, 'id' | ReadMethod> {
  /** The records that could not be read. */
  readonly lost: readonly Seq[]
}

type StoredSource = SessionSource & LineReader & Pick<Leases, 'nodes'> & Pick<Catalogue, 'list'>

/** Loads a session for reading only, without claiming it; `models` knows its model's abilities. Refused: session_not_found, log_damaged. */
export async function openStoredHandle(
  source: StoredSource,
  id: SessionId,
  isAlive: (node: NodeRow) => Promise<boolean>,
  models: Pick<Models, 'find'> | null = null,
): Promise<Result<StoredHandle>> {
  const owner = (await source.entry(id))?.owner ?? null
  const loaded = await loadSession(source, id)
  if (!loaded.ok) return loaded
  const { meta, busy } = loaded.value.row.entry
  const rows = [{ meta, busy, owner }]
  const alive = await findLiveOwners(busyOwners(rows), source, isAlive)
  const [current = meta] = await showWaiting(source, ownedStatus(rows, alive))
  const { status, waiting } = current
  const folded = async () => loaded
  const { snapshot, state, page, messages, branches, clientEvents, fileChanges } = createSessionReader({
    id,
    log: source,
    folded,
    completeMeta: (now) => ({ ...now, status, ...(waiting !== undefined && { waiting }) }),
    workspaceTrust: async () => [],
    here: ({ settings }) =>
      models && { clients: [], storageError: null, ...modelStatus(models.find(settings.model)), workspaceTrust: [] },
  })
  return ok({ id, lost: loaded.value.lost, snapshot, state, page, messages, branches, clientEvents, fileChanges })
}
