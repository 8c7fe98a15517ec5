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
import { pagesOf } from '../export/export-session.ts'
import type { ExportedLog } from '../export/jsonl.ts'
import { isNodeAlive } from '../node/node-socket.ts'
import { openSqliteReader, type SqliteReader } from '../store/sqlite/sqlite-reader.ts'
import type { Place } from './place.ts'
import { checkName, latest, noneYet, noSession, suggested } from './session-name.ts'
import { workspaceOf } from './workspace.ts'

export type Page = Pick<TranscriptPage, 'messages' | 'before'>

/** A session of the store file as the reading commands write it out. */
export interface StoredSession extends Pick<StoredHandle, 'lost' | 'id'> {
  readonly meta: Meta
  /** Its records, as they are. */
  readonly log: ExportedLog
  branches: StoredHandle['branches']
  /** The whole line, oldest first, page by page: never all of it in memory. */
  pages(): AsyncIterable<readonly Message[]>
  /** The newest messages. */
  newest(limit: number): Promise<Page>
  close(): void
}

/** With `branch`, its messages are those of a line that was left and kept. */
export async function openStoredSession(
  place: Place,
  name: string,
  { branch }: Pick<PageRequest, 'branch'> = {},
): Promise<Result<StoredSession>> {
  const form = checkName(place, name)
  if (!form.ok) return form
  const reader = openSqliteReader(place.home.storePath)
  if (!reader.ok) return reader
  if (reader.value === null) return noSession(name)
  const opened = await openIn(reader.value, place, name, branch)
  if (!opened.ok) reader.value.close()
  return opened
}

async function openIn(
  reader: SqliteReader,
  place: Place,
  name: string,
  branch: PageRequest['branch'],
): Promise<Result<StoredSession>> {
  const id = await idOf(reader, place, name)
  if (!id.ok) return id
  const log = sourceOf(reader)
  const handle = await openStoredHandle(log, id.value, isNodeAlive)
  if (!handle.ok) return handle
  const { lost, page, branches } = handle.value
  const first = await page({ limit: 1, branch })
  if (!first.ok) return first

  return ok({
    id: id.value,
    meta: first.value.session,
    log,
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
    close: reader.close,
  })
}

async function idOf(reader: SqliteReader, place: Place, name: string): Promise<Result<SessionId>> {
  if (name === latest) {
    const workspace = workspaceOf(place)
    if (!workspace.ok) return workspace
    const found = reader.find({ type: 'latest', workspace: workspace.value })
    if (!found.ok) return found
    const [id] = found.value
    return id === undefined ? refuse(noneYet(workspace.value)) : ok(id)
  }
  const id = await findSession({ find: async (asked) => orThrow(reader.find(asked)) }, name)
  return suggested(id, name, async () =>
    orThrow(reader.list({ limit: limits.listSessionsMax })).sessions.map(({ meta }) => meta.handle),
  )
}

/** The reader as core's port, which waits; what the disk does to it is thrown, and told by the program as the fault it is. */
function sourceOf(reader: SqliteReader) {
  return {
    read: async (...args: Parameters<SqliteReader['read']>) => orThrow(reader.read(...args)),
    readRefs: async (...args: Parameters<SqliteReader['readRefs']>) => orThrow(reader.readRefs(...args)),
    entry: async (...args: Parameters<SqliteReader['entry']>) => orThrow(reader.entry(...args)),
    loadSnapshot: async (...args: Parameters<SqliteReader['loadSnapshot']>) => orThrow(reader.loadSnapshot(...args)),
    nodes: async () => orThrow(reader.nodes()),
  }
}
