import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import { findByKey } from '@holdfast/core'
import { clip, type EventOf, Handle, Key, limits, ok, type Result, type SessionId } from '@holdfast/protocol'
import type { ImportedConversation, ImportedMessage, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import { modelName } from './write/models.ts'
import { storeParts } from './write/stored-parts.ts'
import { writeConversation } from './write/write-conversation.ts'
import { type ImportDeps, type Written, writePast } from './write/write-past.ts'

/** What became of a source. */
export type Fate = {
  readonly status: Written['status'] | 'empty'
  readonly session: SessionId | null
  readonly messages: number
}

/** Makes a session of a conversation, once: the same source is found again by its key. */
export async function importConversation(
  parts: ImportDeps,
  format: FormatName,
  conversation: ImportedConversation,
  remark: Remark,
): Promise<Result<Fate>> {
  if (!conversation.messages.some(({ role }) => role === 'user'))
    return ok({ status: 'empty', session: null, messages: 0 })
  const key = keyOf(format, conversation.about.id ?? '')
  if (/^[/\\]|\.\./.test(conversation.about.id ?? ''))
    remark(null, 'unsafe_id', 'Its id looks like a path; it is kept as a name and nothing else.')
  const known = await findByKey(parts.store, key)
  if (!known.ok) return known
  const session = known.value ?? parts.newSessionId()
  const stored = await storeParts(everyMessage(conversation), parts, remark)
  const started = await startedEvent(parts, key, conversation, remark)
  const createdAt = conversation.about.createdAt ?? firstTime(conversation) ?? parts.clock.now()
  const past = writeConversation(conversation, { session, started, createdAt, stored, remark })
  const written = await writePast(parts, past)
  // The same source came in twice at once: the other one has it now, and is held against.
  if (!written.ok && written.fault.code === 'key_taken' && !known.value)
    return importConversation(parts, format, conversation, remark)
  if (!written.ok) return written
  return ok({ status: written.value.status, session, messages: past.folded.row.entry.meta.messageCount })
}

const everyMessage = ({ messages, branches }: ImportedConversation): Iterable<ImportedMessage> =>
  new Set([...branches.flatMap((branch) => branch.messages), ...messages])

const firstTime = ({ messages }: ImportedConversation): number | undefined =>
  messages.find(({ at }) => at !== null)?.at ?? undefined

/** A program's own id, or its digest where it could be no key. */
function keyOf(format: FormatName, id: string): Key {
  const key = Key.safeParse(`import:${format}:${id}`)
  if (key.success) return key.data
  return Key.parse(`import:${format}:sha256-${createHash('sha256').update(id).digest('hex')}`)
}

async function startedEvent(
  { resolveWorkdir, models, newHandle }: ImportDeps,
  key: Key,
  { about }: ImportedConversation,
  remark: Remark,
): Promise<EventOf<'session.started'>> {
  const model = modelName(about.model)
  const defaultModel = models.defaultModel()
  if (about.model !== undefined && model === null) remark(null, 'model_unknown', `Its model is now ${defaultModel}.`)
  const asked = about.workdir ?? '.'
  const real = await resolveWorkdir(asked)
  if (about.workdir !== undefined && !real.ok) remark(null, 'workdir_missing', 'The folder it worked in is not here.')
  const here = real.ok ? real : await resolveWorkdir('.')
  const workdir = !real.ok && isPath(asked) ? asked : here.ok ? here.value : '/'
  const title = clip(about.title?.trim() ?? '', limits.titleCharsMax).toWellFormed()
  const settings = { model: model ?? defaultModel, thinkingLevel: 'off', mode: 'exec', budgets: {} } as const
  return {
    type: 'session.started',
    handle: Handle.parse(newHandle(0)),
    key,
    workdir,
    settings: { ...settings, ...(title !== '' && { title }) },
  }
}

/** A folder of another machine keeps its name. */
const isPath = (path: string): boolean =>
  (isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path)) && path.length <= limits.toolPathCharsMax && !/\p{Cc}/u.test(path)
