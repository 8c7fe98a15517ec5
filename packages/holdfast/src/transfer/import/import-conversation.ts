import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import { findByKey } from '@holdfast/core'
import { clip, type EventOf, Handle, Key, limits, ModelName, ok, type Result, type SessionId } from '@holdfast/protocol'
import type { ImportedConversation, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import { storeContent } from './write/store-content.ts'
import { writeConversation } from './write/write-conversation.ts'
import { type ImportDeps, type WriteResult, writeLog } from './write/write-log.ts'

/** The result of importing one source. */
export type ImportOutcome = {
  readonly status: WriteResult['status'] | 'empty'
  readonly session: SessionId | null
  readonly messages: number
}

/** Imports a conversation as a session, once: its key identifies the source. */
export async function importConversation(
  deps: ImportDeps,
  format: FormatName,
  conversation: ImportedConversation,
  remark: Remark,
): Promise<Result<ImportOutcome>> {
  if (!conversation.messages.some(({ role }) => role === 'user'))
    return ok({ status: 'empty', session: null, messages: 0 })
  const key = createKey(format, conversation.about.id ?? '')
  if (/^[/\\]|\.\./.test(conversation.about.id ?? ''))
    remark(null, 'unsafe_id', 'Its id looks like a path; it is used only as a name.')
  const known = await findByKey(deps.stores, key)
  if (!known.ok) return known
  const session = known.value ?? deps.newSessionId()
  const { messages, branches, about } = conversation
  const stored = await storeContent(new Set([...branches.flatMap((one) => one.messages), ...messages]), deps, remark)
  const started = await createStartedEvent(deps, key, conversation, remark)
  const createdAt = about.createdAt ?? messages.find(({ at }) => at !== null)?.at ?? deps.clock.now()
  const log = writeConversation(conversation, { session, started, createdAt, stored, remark })
  const written = await writeLog(deps, log)
  // A concurrent import of the same source created it: compare with that one.
  if (!written.ok && written.fault.code === 'key_taken' && !known.value)
    return importConversation(deps, format, conversation, remark)
  if (!written.ok) return written
  return ok({ status: written.value.status, session, messages: log.folded.row.entry.meta.messageCount })
}

/** Creates a key from a program's own id, or from its digest if the id is not a valid key. */
function createKey(format: FormatName, id: string): Key {
  const key = Key.safeParse(`import:${format}:${id}`)
  if (key.success) return key.data
  return Key.parse(`import:${format}:sha256-${createHash('sha256').update(id).digest('hex')}`)
}

async function createStartedEvent(
  { resolveWorkdir, models, newHandle }: ImportDeps,
  key: Key,
  { about }: ImportedConversation,
  remark: Remark,
): Promise<EventOf<'session.started'>> {
  const model = toModelName(about.model)
  const defaultModel = models.defaultModel()
  if (about.model !== undefined && model === null) remark(null, 'model_unknown', `Its model is now ${defaultModel}.`)
  const asked = about.workdir ?? '.'
  const real = await resolveWorkdir(asked)
  if (about.workdir !== undefined && !real.ok)
    remark(null, 'workdir_missing', 'The folder it worked in does not exist here.')
  const here = real.ok ? real : await resolveWorkdir('.')
  const workdir = !real.ok && isPath(asked) ? asked : here.ok ? here.value : '/'
  const title = clip(about.title?.trim() ?? '', limits.titleCharsMax).toWellFormed()
  const settings = { model: model ?? defaultModel, thinkingLevel: 'off', mode: 'exec', budgets: {} } as const
  const named = { ...settings, ...(title !== '' && { title }) }
  return { type: 'session.started', handle: Handle.parse(newHandle(0)), key, workdir, settings: named }
}

/** Accepts absolute paths of any system: a folder of another machine keeps its name. */
const isPath = (path: string): boolean =>
  (isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path)) && path.length <= limits.toolPathCharsMax && !/\p{Cc}/u.test(path)

const families: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(gpt|o\d|codex|chatgpt)/i, 'openai'],
  [/^gemini/i, 'google'],
]

/** Converts another program's model name to `provider/model`; null if that is not possible. */
function toModelName(model: string | undefined): string | null {
  if (model === undefined || model.trim() === '' || model.startsWith('<')) return null
  const written = model.trim().replace(/\s+/g, '-')
  const [, before, after] = /^([A-Za-z0-9][\w-]*)[:/](.+)$/.exec(written) ?? []
  const provider = before ?? families.find(([pattern]) => pattern.test(written))?.[1] ?? 'unknown'
  const name = `${provider.toLowerCase().replace(/[^a-z0-9_-]+/g, '-')}/${after ?? written}`
  return ModelName.safeParse(name).success ? name : null
}
