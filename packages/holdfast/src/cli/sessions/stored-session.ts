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
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { isNodeAlive } from '../../system/node/node-socket.ts'
import { pagesOf } from '../../transfer/export/export-session.ts'
import type { ExportedLog } from '../../transfer/export/jsonl.ts'
import type { CliContext } from '../context/cli-context.ts'
import { diskStoreOf, missingStore } from './resolve-store.ts'
import { checkName, latest, noneYet, noSession, suggested } from './session-name.ts'
import { workspaceOf } from './workspace.ts'

export type Page = Pick<TranscriptPage, 'messages' | 'before'>

/** A session of a store as the reading commands write it out. */
export interface StoredSession extends Pick<StoredHandle, 'lost' | 'id'> {
  readonly meta: Meta
  /** Its records, as they are. */
  readonly log: ExportedLog
  branches: StoredHandle['branches']
  /** The whole line, oldest first, page by page: never all of it in memory. */
  pages(): AsyncIterable<readonly Message[]>
  /** The newest messages. */
  newest(limit: number): Promise<Page>
  /** Where the files of its store lie. */
  readonly blobsDir: string
  close(): Promise<void>
}

/** With `branch`, its messages are those of a line that was left and kept. */
export async function openStoredSession(
  place: CliContext,
  name: string,
  { branch }: Pick<PageRequest, 'branch'> = {},
): Promise<Result<StoredSession>> {
  const form = checkName(place, name)
  if (!form.ok) return form
  const store = diskStoreOf(place)
  if (!store.ok) return store
  const missing = missingStore(place)
  if (missing !== null) return refuse(missing)
  const source = await openReadOnlyStore(store.value)
  if (!source.ok) return source
  if (source.value === null) return noSession(name)
  const opened = await openIn(source.value, place, name, branch)
  if (!opened.ok) await source.value.close()
  return opened.ok ? ok({ ...opened.value, blobsDir: store.value.blobsDir }) : opened
}

async function openIn(
  source: ReadOnlyStore,
  place: CliContext,
  name: string,
  branch: PageRequest['branch'],
): Promise<Result<Omit<StoredSession, 'blobsDir'>>> {
  const id = await storedId(source, place, name)
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
    lost,
    branches,
    pages: () => pagesOf(page, branch),
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

/** The session of a store that a person named. */
export async function storedId(source: ReadOnlyStore, place: CliContext, name: string): Promise<Result<SessionId>> {
  if (name === latest) {
    const workspace = workspaceOf(place)
    if (!workspace.ok) return workspace
    const [id] = await source.find({ type: 'latest', workspace: workspace.value })
    return id === undefined ? refuse(noneYet(workspace.value)) : ok(id)
  }
  const id = await findSession(source, name)
  return suggested(id, name, async () => {
    const { sessions } = await source.list({ limit: limits.listSessionsMax })
    return sessions.map(({ meta }) => meta.handle)
  })
}
