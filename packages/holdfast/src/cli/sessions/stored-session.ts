import { findSession, openStoredHandle } from '@holdfast/core'
import {
  limits,
  type Message,
  type MessageId,
  orThrow,
  type PageRequest,
  type SessionId,
  sessionNotFound,
  type TranscriptPage,
} from '@holdfast/protocol'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { isNodeAlive } from '../../system/node/node-socket.ts'
import { readPages } from '../../transfer/export/export-session.ts'
import { counted } from '../render/tables.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, failWith } from '../terminal/exit.ts'
import { openStoreToRead, type StoreToRead } from './resolve-store.ts'
import { checkName, latest, noLatest, withSuggestion } from './session-name.ts'
import { resolveWorkspace } from './workspace.ts'

/** A session read from a store, without a server and without waking it. */
export type StoredSession = Awaited<ReturnType<typeof readSession>>

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
export async function warnOfLoss({ lost }: StoredSession, { err }: CliContext): Promise<void> {
  if (lost.length > 0)
    await err.write(
      `${counted(lost.length, 'record')} of this session cannot be read. Run holdfast doctor to see why.\n`,
    )
}

async function readSession({ source, blobsDir }: StoreToRead, id: SessionId, branch: PageRequest['branch']) {
  const { lost, page, branches } = orThrow(await openStoredHandle(source, id, isNodeAlive))
  const { session: meta } = orThrow(await page({ limit: 1, branch }))
  return {
    ...{ id, meta, log: source, blobsDir, lost, branches },
    /** Reads the messages page by page, oldest first; never holds all of them in memory. */
    pages: () => readPages(page, branch),
    /** Reads the newest messages until it has `limit` of those that count. */
    async newest(limit: number, counts: (message: Message) => boolean) {
      let messages: readonly Message[] = []
      let missing = limit
      let before: MessageId | null = null
      do {
        const size = Math.min(missing, limits.pageMessagesMax)
        const older: TranscriptPage = orThrow(await page({ limit: size, branch, ...(before !== null && { before }) }))
        messages = [...older.messages, ...messages]
        missing -= older.messages.filter(counts).length
        before = older.before
      } while (before !== null && missing > 0)
      return { messages, before }
    },
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
