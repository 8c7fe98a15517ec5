import { findSession, openStoredHandle, type StoredHandle } from '@holdfast/core'
import {
  limits,
  type Message,
  type MessageId,
  type Meta,
  ok,
  orThrow,
  type PageRequest,
  type Result,
  refuse,
  type SessionId,
  type TranscriptPage,
} from '@holdfast/protocol'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { isNodeAlive } from '../../system/node/node-socket.ts'
import { readPages } from '../../transfer/export/export-session.ts'
import type { ExportedLog } from '../../transfer/export/jsonl.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, failWith } from '../terminal/exit.ts'
import { openStoreToRead, type StoreToRead } from './resolve-store.ts'
import { checkName, latest, noLatest, noSession, withSuggestion } from './session-name.ts'
import { resolveWorkspace } from './workspace.ts'

type Page = Pick<TranscriptPage, 'messages' | 'before'>

/** A session read from a store, without a server and without waking it. */
export interface StoredSession extends Pick<StoredHandle, 'lost' | 'id'> {
  readonly meta: Meta
  readonly log: ExportedLog
  branches: StoredHandle['branches']
  /** Reads the messages page by page, oldest first; never holds all of them in memory. */
  pages(): AsyncIterable<readonly Message[]>
  newest(limit: number): Promise<Page>
  readonly blobsDir: string
  close(): Promise<void>
}

/** Runs `work` on a stored session, then closes it. `branch` selects the messages. */
export async function withStoredSession(
  context: CliContext,
  name: string,
  { branch }: Pick<PageRequest, 'branch'>,
  work: (session: StoredSession) => Promise<CommandResult>,
): Promise<CommandResult> {
  const session = await openStoredSession(context, name, branch)
  if (!session.ok) return failWith(session.fault)
  try {
    return await work(session.value)
  } finally {
    await session.value.close()
  }
}

/** Warns if records of the session are lost. */
export async function warnOfLoss({ lost }: StoredSession, { err }: CliContext): Promise<void> {
  if (lost.length > 0)
    await err.write(`${lost.length} records of this session cannot be read. Run holdfast doctor to see why.\n`)
}

async function openStoredSession(
  context: CliContext,
  name: string,
  branch: PageRequest['branch'],
): Promise<Result<StoredSession>> {
  const valid = checkName(context, name)
  if (!valid.ok) return valid
  const store = await openStoreToRead(context)
  if (!store.ok) return store
  if (store.value === null) return noSession(name)
  const opened = await openIn(store.value, context, name, branch)
  if (!opened.ok) await store.value.source.close()
  return opened
}

async function openIn(
  { source, blobsDir }: StoreToRead,
  context: CliContext,
  name: string,
  branch: PageRequest['branch'],
): Promise<Result<StoredSession>> {
  const id = await findStoredId(source, context, name)
  if (!id.ok) return id
  const handle = await openStoredHandle(source, id.value, isNodeAlive)
  if (!handle.ok) return handle
  const { lost, page, branches } = handle.value
  const first = await page({ limit: 1, branch })
  if (!first.ok) return first

  return ok({
    id: id.value,
    meta: first.value.session,
    log: source,
    blobsDir,
    lost,
    branches,
    pages: () => readPages(page, branch),
    async newest(limit) {
      let messages: readonly Message[] = []
      let before: MessageId | null = null
      do {
        const size = Math.min(limit - messages.length, limits.pageMessagesMax)
        const older: Page = orThrow(await page({ limit: size, branch, ...(before !== null && { before }) }))
        messages = [...older.messages, ...messages]
        before = older.before
      } while (before !== null && messages.length < limit)
      return { messages, before }
    },
    close: source.close,
  })
}

/** Finds the id of a session of a store by its name. */
export async function findStoredId(
  source: ReadOnlyStore,
  context: CliContext,
  name: string,
): Promise<Result<SessionId>> {
  if (name === latest) {
    const workspace = resolveWorkspace(context)
    if (!workspace.ok) return workspace
    const [id] = await source.find({ type: 'latest', workspace: workspace.value })
    return id === undefined ? refuse(noLatest(workspace.value)) : ok(id)
  }
  return withSuggestion(await findSession(source, name), name, async () => {
    const { sessions } = await source.list({ limit: limits.listSessionsMax })
    return sessions.map(({ meta }) => meta.handle)
  })
}
