import { createHash } from 'node:crypto'
import {
  clip,
  type EventOf,
  escapeLine,
  Handle,
  Key,
  limits,
  ModelName,
  ok,
  type Result,
  type SessionId,
  textOf,
} from '@holdfast/protocol'
import { chooseWorkdir } from './choose-workdir.ts'
import type { ImportDeps } from './host/import-deps.ts'
import type { ImportedConversation, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import type { LogBatch } from './write/imported-log.ts'
import { splitText } from './write/split-text.ts'
import { storeContent } from './write/store-content.ts'
import { writeConversation } from './write/write-conversation.ts'
import { type ImportWriteResult, writeLog } from './write/write-log.ts'

/** The result of importing one source. */
export type ImportOutcome = {
  /** `imported` if it is new, `grown` if messages were added, `same` if there was nothing to do. */
  readonly status: ImportWriteResult['status'] | 'empty'
  /** The session it became; null if it has no messages. */
  readonly session: SessionId | null
  /** How many messages the file has. */
  readonly messages: number
}

/** Whether an import looks up each key before it creates a session with it. */
export type KnownKeys = { looksFirst: boolean }

/**
 * Imports a conversation as a session, once: its key identifies the source. Most are new, so a key is not looked up
 * before the session is created; an import that meets a known one looks first from then on.
 */
export async function importConversation(
  deps: ImportDeps,
  format: FormatName,
  conversation: ImportedConversation,
  remark: Remark,
  known: KnownKeys,
): Promise<Result<ImportOutcome>> {
  if (!conversation.messages.some(({ role }) => role === 'user'))
    return ok({ status: 'empty', session: null, messages: 0 })
  const { messages, branches, about } = conversation
  const chosen = await chooseKey(deps, createKey(format, about.id ?? ''), conversation, remark)
  if (!chosen.ok) return chosen
  const key = chosen.value
  if (/^[/\\]|\.\./.test(about.id ?? ''))
    remark(null, 'unsafe_id', 'Its id looks like a path; it is used only as a name.')
  const stored = await storeContent(everyMessage(conversation), deps, remark)
  const started = await createStartedEvent(deps, key, conversation, remark)
  const createdAt = about.createdAt ?? messages.find(({ at }) => at !== null)?.at ?? deps.now()

  async function write(existing: SessionId | null, remark: Remark): Promise<Result<ImportOutcome>> {
    const session = existing ?? deps.newSessionId()
    let count = 0
    const batches = function* (): Generator<LogBatch> {
      count = yield* writeConversation({ about, messages, branches }, { session, started, createdAt, stored, remark })
    }
    const start = { session, parent: null, base: 0 }
    const written = await writeLog(deps, start, batches(), { isNewId: existing === null })
    return written.ok ? ok({ status: written.value.status, session, messages: count }) : written
  }
  async function writeKnown(remark: Remark): Promise<Result<ImportOutcome>> {
    const found = await deps.findKey(key)
    return found.ok ? write(found.value, remark) : found
  }

  if (known.looksFirst) {
    const written = await writeKnown(remark)
    // If another import of the same source just created it, compare with that one.
    return isKeyTaken(written) ? writeKnown(noRemark) : written
  }
  const written = await write(null, remark)
  if (!isKeyTaken(written)) return written
  known.looksFirst = true
  return writeKnown(noRemark)
}

const isKeyTaken = (written: Result<unknown>): boolean => !written.ok && written.fault.code === 'key_taken'
/** The second attempt would say the same as the first. */
const noRemark: Remark = () => undefined

/**
 * Returns the key of the session: that of the other program, so that it is found by it, or one made from its id. A key that
 * another session has is left to it.
 */
async function chooseKey(
  { findKey, read }: Pick<ImportDeps, 'findKey' | 'read'>,
  created: Key,
  { about, messages }: ImportedConversation,
  remark: Remark,
): Promise<Result<Key>> {
  const own = about.key === undefined ? null : Key.safeParse(about.key)
  if (!own?.success) return ok(created)
  const earlier = await findKey(created) // imported while its key was taken, or by an earlier version
  if (!earlier.ok) return earlier
  if (earlier.value !== null) return ok(created)
  const known = await findKey(own.data)
  if (!known.ok) return known
  if (known.value === null || (await isSameBeginning(read, known.value, messages))) return ok(own.data)
  remark(null, 'key_dropped', `Its key ${escapeLine(own.data)} belongs to another session; it is now ${created}.`)
  return ok(created)
}

/** Returns whether a stored session begins with the same prompt, as one that was imported from this file does. */
async function isSameBeginning(
  read: ImportDeps['read'],
  session: SessionId,
  messages: ImportedConversation['messages'],
): Promise<boolean> {
  const first = messages.find((message) => message.role === 'user')
  const text = first?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const [begin = ''] = splitText(text ?? '')
  const [stored] = await read(session, { after: 0, limit: 1, types: ['user.said'] })
  return stored !== undefined && !('lost' in stored) && textOf(stored.event) === begin
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
  const model = findModelName(about.model)
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

/** The files of a folder name the same few models. */
const modelNames = new Map<string | undefined, string | null>()
const modelNamesMax = 1000

function findModelName(model: string | undefined): string | null {
  const known = modelNames.get(model)
  if (known !== undefined) return known
  const name = toModelName(model)
  if (modelNames.size >= modelNamesMax) modelNames.clear()
  modelNames.set(model, name)
  return name
}

/** Converts another program's model name to `provider/model`; null if that is not possible. */
function toModelName(model: string | undefined): string | null {
  if (model === undefined || model.trim() === '' || model.startsWith('<')) return null
  const written = model.trim().replace(/\s+/g, '-')
  const [, before, after] = /^([A-Za-z0-9][\w-]*)[:/](.+)$/.exec(written) ?? []
  const provider = before ?? families.find(([pattern]) => pattern.test(written))?.[1] ?? 'unknown'
  const name = `${provider.toLowerCase().replace(/[^a-z0-9_-]+/g, '-')}/${after ?? written}`
  return ModelName.safeParse(name).success ? name : null
}
