import { findSession, openStoredHandle } from '@holdfast/core'
import { limits, orThrow, type PageRequest, type SessionId, sessionNotFound } from '@holdfast/protocol'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { isNodeAlive } from '../../system/node/node-socket.ts'
import { readPages } from '../../transfer/export/export-session.ts'
import { openStoreToRead, type StoreToRead } from '../connect/resolve-store.ts'
import { checkName, latest, noLatest, withSuggestion } from '../connect/session-name.ts'
import { resolveWorkspace } from '../connect/workspace.ts'
import { counted } from '../render/tables.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, failWith } from '../terminal/exit.ts'
import { readNewest } from './read-newest.ts'

/** A session read from a store, without a server and without waking it. */
export type StoredSession = Awaited<ReturnType<typeof readSession>>
/** The part of it that a server can answer too. */
export type ReadSession = Omit<StoredSession, 'log' | 'openBlobs'>

/** Runs `work` on a session that is read at the server of `--url`, or from the store. */
export async function withReadSession(
  context: CliContext,
  name: string,
  branch: Pick<PageRequest, 'branch'>,
  work: (session: ReadSession) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (!context.server) return withStoredSession(context, name, branch, work)
  const { openRemote, readRemoteSession } = await import('./remote.ts')
  return work(await readRemoteSession(await openRemote(context, context.server, name), branch.branch))
}

/** Runs `work` on a stored session, then closes it. `branch` selects the messages. */
export async function withStoredSession(
  context: CliContext,
  name: string,
  { branch }: Pick<PageRequest, 'branch'>,
  work: (session: StoredSession) => Promise<CommandResult>,
): Promise<CommandResult> {
  orThrow(checkName(context, name))
  const store = await openStoreToRead(context)
  if (store === null) return failWith(sessionNotFound(name))
  try {
    return await work(await readSession(store, await findStoredId(store.source, context, name), branch))
  } finally {
    await store.source.close()
  }
}

/** Warns if records of the session are lost. */
export async function warnOfLoss({ lost }: ReadSession, { err }: CliContext): Promise<void> {
  if (lost.length > 0)
    await err.tell(`${counted(lost.length, 'record')} of this session cannot be read. Run holdfast doctor to see why.`)
}

async function readSession({ source, openBlobs }: StoreToRead, id: SessionId, branch: PageRequest['branch']) {
  const { lost, page, branches } = orThrow(await openStoredHandle(source, id, isNodeAlive))
  const { session: meta } = orThrow(await page({ limit: 1, branch }))
  return {
    id,
    meta,
    log: source,
    openBlobs,
    lost,
    branches,
    /** Reads the messages page by page, oldest first; never holds all of them in memory. */
    pages: () => readPages(page, branch),
    newest: readNewest(page, branch),
  }
}

/** Finds the id of a session of a store by its name. */
export async function findStoredId(source: ReadOnlyStore, context: CliContext, name: string): Promise<SessionId> {
  if (name === latest) {
    const workspace = orThrow(resolveWorkspace(context))
    const [id] = await source.find({ type: 'latest', workspace })
    return id ?? failWith(noLatest(workspace))
  }
  const handles = async () => {
    const { sessions } = await source.list({ limit: limits.listSessionsMax })
    return sessions.map(({ meta }) => meta.handle)
  }
  return orThrow(await withSuggestion(await findSession(source, name), name, handles))
}
