import { findSession, loadSession, readPage } from '@holdfast/core'
import {
  limits,
  type Message,
  MessageId,
  type Meta,
  ok,
  orThrow,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import { openSqliteReader, type SqliteReader } from '../store/sqlite/sqlite-reader.ts'
import { honestStatus } from './honest-status.ts'
import type { Place } from './place.ts'
import { checkName, latest, noneYet, noSession, suggested } from './session-name.ts'
import { workspaceOf } from './workspace.ts'

export type Page = { readonly messages: readonly Message[]; readonly before: MessageId | null }

/** A session read from the store file, as it stood when it was opened, without waking it. */
export interface StoredSession {
  readonly meta: Meta
  /** Seqs whose records could not be read. */
  readonly lost: readonly number[]
  /** The whole line, oldest first, page by page: never all of it in memory. */
  pages(): AsyncIterable<readonly Message[]>
  /** The newest messages. */
  newest(limit: number): Promise<Page>
  close(): void
}

export async function openStoredSession(place: Place, name: string): Promise<Result<StoredSession>> {
  const form = await checkName(name)
  if (!form.ok) return form
  const reader = openSqliteReader(place.home.storePath)
  if (!reader.ok) return reader
  if (reader.value === null) return noSession(name)
  const opened = await openIn(reader.value, place, name)
  if (!opened.ok) reader.value.close()
  return opened
}

async function openIn(reader: SqliteReader, place: Place, name: string): Promise<Result<StoredSession>> {
  const id = await idOf(reader, place, name)
  if (!id.ok) return id
  const log = logOf(reader)
  const loaded = await loadSession(log, id.value)
  if (!loaded.ok) return loaded
  const { state, row, lost } = loaded.value
  const owner = orThrow(reader.entry(id.value))?.owner ?? null
  const honest = await honestStatus([{ meta: row.entry.meta, busy: row.entry.busy, owner }], reader.nodes)
  if (!honest.ok) return honest
  const page = (request: { readonly after?: MessageId; readonly before?: MessageId; readonly limit: number }) =>
    readPage(log, id.value, state.line, state.seq, request)

  return ok({
    meta: honest.value[0] ?? row.entry.meta,
    lost,
    async *pages() {
      let after: MessageId | null = MessageId.parse(0)
      while (after !== null) {
        const next: Awaited<ReturnType<typeof page>> = await page({ after, limit: limits.pageMessagesMax })
        yield next.messages
        after = next.after
      }
    },
    async newest(limit) {
      let messages: readonly Message[] = []
      let before: MessageId | null = null
      do {
        const size = Math.min(limit - messages.length, limits.pageMessagesMax)
        const older: Page = await page(before === null ? { limit: size } : { before, limit: size })
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
function logOf(reader: SqliteReader) {
  return {
    read: async (...args: Parameters<SqliteReader['read']>) => orThrow(reader.read(...args)),
    readRefs: async (...args: Parameters<SqliteReader['readRefs']>) => orThrow(reader.readRefs(...args)),
    entry: async (...args: Parameters<SqliteReader['entry']>) => orThrow(reader.entry(...args)),
    loadSnapshot: async (...args: Parameters<SqliteReader['loadSnapshot']>) => orThrow(reader.loadSnapshot(...args)),
  }
}
