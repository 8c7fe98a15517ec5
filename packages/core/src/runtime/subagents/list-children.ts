import { type ChildView, ok, type Result, type SessionId } from '@holdfast/protocol'
import { loadSession } from '../log/load-session.ts'
import { childViewOf } from './child-view.ts'
import type { SubagentHost } from './host.ts'
import { descendantsOf } from './tree-usage.ts'

/** Lists all subagents below a session, oldest first: those that run here as they are now, others as they are stored. */
export async function listChildren(
  host: Pick<SubagentHost, 'rows' | 'loaded' | 'storeOf'>,
  session: SessionId,
): Promise<Result<readonly ChildView[]>> {
  const found: ChildView[] = []
  for await (const meta of descendantsOf(host.rows, session)) {
    if (!meta.subagent) continue
    const folded = host.loaded(meta.id)?.folded() ?? (await readStored(host, meta.id))
    const view = folded && childViewOf(folded.state, folded.row.entry.meta)
    if (view) found.push(view)
  }
  return ok(found.sort((one, other) => (one.id < other.id ? -1 : 1))) // ids are ordered by their time
}

/** Returns the folds of a stored session; null if it cannot be read, as a damaged one. */
async function readStored({ storeOf }: Pick<SubagentHost, 'storeOf'>, id: SessionId) {
  const loaded = await loadSession(storeOf(id), id)
  return loaded.ok ? loaded.value : null
}
