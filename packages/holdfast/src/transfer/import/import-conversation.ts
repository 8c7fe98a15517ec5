import { createHash } from 'node:crypto'
import { clip, type EventOf, Handle, Key, limits, ModelName, ok, type Result, type SessionId } from '@holdfast/protocol'
import { chooseWorkdir } from './choose-workdir.ts'
import type { ImportDeps } from './host/import-deps.ts'
import type { ImportedConversation, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import type { LogBatch } from './write/imported-log.ts'
import { storeContent } from './write/store-content.ts'
import { writeConversation } from './write/write-conversation.ts'
import { type WriteResult, writeLog } from './write/write-log.ts'

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
  const known = await deps.findKey(key)
  if (!known.ok) return known
  const session = known.value ?? deps.newSessionId()
  const { messages, branches, about } = conversation
  const stored = await storeContent(everyMessage(conversation), deps, remark)
  const started = await createStartedEvent(deps, key, conversation, remark)
  const createdAt = about.createdAt ?? messages.find(({ at }) => at !== null)?.at ?? deps.now()
  let count = 0
  const batches = function* (): Generator<LogBatch> {
    count = yield* writeConversation({ about, messages, branches }, { session, started, createdAt, stored, remark })
  }
  const written = await writeLog(deps, { session, parent: null, base: 0 }, batches(), { isNewId: !known.value })
  // A concurrent import of the same source created it: compare with that one.
  if (!written.ok && written.fault.code === 'key_taken' && !known.value)
    return importConversation(deps, format, conversation, remark)
  if (!written.ok) return written
  return ok({ status: written.value.status, session, messages: count })
}

/** Returns each message once, also if several lines share it. */
function everyMessage({ branches, messages }: ImportedConversation) {
  if (branches.length === 0) return messages
  return new Set([...branches.flatMap((one) => one.messages), ...messages])
}

/** Creates a key from a program's own id, or from its digest if the id is not a valid key. */
function createKey(format: FormatName, id: string): Key {
  const key = Key.safeParse(`import:${format}:${id}`)
  if (key.success) return key.data
  return Key.parse(`import:${format}:sha256-${createHash('sha256').update(id).digest('hex')}`)
}

async function createStartedEvent(
  deps: ImportDeps,
  key: Key,
  { about }: ImportedConversation,
  remark: Remark,
): Promise<EventOf<'session.started'>> {
  const { defaultModel, newHandle } = deps
  const model = toModelName(about.model)
  if (about.model !== undefined && model === null) remark(null, 'model_unknown', `Its model is now ${defaultModel}.`)
  const workdir = await chooseWorkdir(deps, about.workdir, remark)
  const title = clip(about.title?.trim() ?? '', limits.titleCharsMax).toWellFormed()
  const settings = { model: model ?? defaultModel, thinkingLevel: 'off', mode: 'exec', budgets: {} } as const
  const named = { ...settings, ...(title !== '' && { title }) }
  return { type: 'session.started', handle: Handle.parse(newHandle(0)), key, workdir, settings: named }
}

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
