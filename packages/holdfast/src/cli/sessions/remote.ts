import { limits, type Meta, orThrow, type PageRequest, type SessionHandle, type SessionList } from '@holdfast/protocol'
import { readPages } from '../../transfer/export/export-session.ts'
import { connectGiven } from '../connect/connect-given.ts'
import { checkName, openNamed } from '../connect/session-name.ts'
import type { CliContext, GivenServer } from '../terminal/cli-context.ts'
import type { StoredListRequest } from './read-list.ts'
import { readNewest } from './read-newest.ts'

/** Reads a list from a server. `limit` may be more than a page. */
export async function readRemoteList(server: GivenServer, asked: StoredListRequest): Promise<SessionList> {
  const { handles } = connectGiven(server)
  const { limit, running, trashed, pinned, activeFrom, cursor, workspace, search, model, waiting, subagents } = asked
  const options = {
    workspace,
    search,
    model,
    pinned,
    waiting,
    subagents,
    ...(running && { running }),
    ...(trashed && { trashed: true as const }),
    ...(activeFrom !== undefined && { activeFrom: new Date(activeFrom).toISOString() }),
  }
  const sessions: Meta[] = []
  for (let from = cursor; ; ) {
    const size = Math.min(limit - sessions.length, limits.listSessionsMax)
    const page = orThrow(await handles.list({ ...options, cursor: from, limit: size }))
    sessions.push(...page.sessions)
    if (page.next === null || sessions.length >= limit) return { sessions, next: page.next }
    from = page.next
  }
}

/** Opens a session of the server that `--url` names. */
export async function openRemote(context: CliContext, server: GivenServer, name: string): Promise<SessionHandle> {
  orThrow(checkName(context, name))
  return orThrow(await openNamed(connectGiven(server).handles, context, name))
}

/** Reads a session of a server, as `readSession` reads one of a store. */
export async function readRemoteSession(handle: SessionHandle, branch: PageRequest['branch']) {
  const { page, branches, id } = handle
  const { session: meta } = orThrow(await page({ limit: 1, branch }))
  return { id, meta, lost: [], branches, pages: () => readPages(page, branch), newest: readNewest(page, branch) }
}
