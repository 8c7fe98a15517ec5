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

/**
 * Imports a conversation as a session, once: its key identifies the source. `looksFirst`: looks up the key before it
 * creates a session. Most are new, so an import does that only after a refusal: key_taken, handle_taken. Such a one
 * keeps nothing of the conversation while it is written, so the file is read again.
 */
export async function importConversation(
  deps: ImportDeps,
  format: FormatName,
  conversation: ImportedConversation,
  remark: Remark,
  looksFirst: boolean,
): Promise<Result<ImportOutcome>> {
  if (!conversation.messages.some(({ role }) => role === 'user'))
    return ok({ status: 'empty', session: null, messages: 0 })
  const { messages, about } = conversation
  const created = createKey(format, about.id ?? '')
  // Most need no answer of the host. Without a wait nothing of one file is in memory when the next is parsed.
  const chosen = about.key === undefined ? ok(created) : await chooseKey(deps, created, conversation, remark)
  if (!chosen.ok) return chosen
  const key = chosen.value
  if (/^[/\\]|\.\./.test(about.id ?? ''))
    remark(null, 'unsafe_id', 'Its id looks like a path; it is used only as a name.')
  const content = storeContent(everyMessage(conversation), deps, remark)
  const stored = content instanceof Promise ? await content : content
  const named = chooseWorkdir(deps, about.workdir, remark)
  const workdir = typeof named === 'string' ? named : await named
  const started = createStartedEvent(deps, key, workdir, about, remark)
  const createdAt = about.createdAt ?? messages.find(({ at }) => at !== null)?.at ?? deps.now()
  const source = { conversation, started, createdAt, stored }
  if (!looksFirst) return createNew(deps, source, remark)
  const written = await writeKnown(deps, key, source, remark)
  // If another import of the same source just created it, compare with that one.
  return isKeyTaken(written) ? writeKnown(deps, key, source, noRemark) : written
}

const isKeyTaken = (written: Result<unknown>): boolean => !written.ok && written.fault.code === 'key_taken'
/** The second attempt would say the same as the first. */
const noRemark: Remark = () => undefined

/** A conversation and what its records are made with. */
type Source = Pick<Parameters<typeof writeConversation>[1], 'started' | 'createdAt' | 'stored'> & {
  readonly conversation: ImportedConversation
}

/** Creates a session that is most likely new. */
function createNew(
  deps: ImportDeps,
  { conversation, ...made }: Source,
  remark: Remark,
): Promise<Result<ImportOutcome>> {
  const session = deps.newSessionId()
  const batches = writeConversation(conversation, { session, ...made, remark })
  const first = batches.next()
  const second = batches.next()
  if (first.done || !second.done) return writeAll(deps, session, true, chain([first, second], batches))
  return createWhole(deps, session, first.value, second.value)
}

/**
 * Creates a session of one batch. Not async: an async function keeps its arguments until it ends, and hundreds of
 * sessions are written at once.
 */
function createWhole(
  deps: ImportDeps,
  session: SessionId,
  { records, blobs, entry }: LogBatch,
  messages: number,
): Promise<Result<ImportOutcome>> {
  const created = deps.create({ session, parent: null, base: 0, records, blobs, entry }, true)
  return created.then((answer) => (answer.ok ? ok({ status: 'imported', session, messages }) : answer))
}

type Batches = Generator<LogBatch, number>

function* chain(given: readonly IteratorResult<LogBatch, number>[], rest: Batches): Batches {
  for (const one of given) {
    if (one.done) return one.value
    yield one.value
  }
  return yield* rest
}

/** Writes to the session that has the key, or to a new one. */
async function writeKnown(
  deps: ImportDeps,
  key: Key,
  { conversation, ...made }: Source,
  remark: Remark,
): Promise<Result<ImportOutcome>> {
  const found = await deps.findKey(key)
  if (!found.ok) return found
  const session = found.value ?? deps.newSessionId()
  const batches = writeConversation(conversation, { session, ...made, remark })
  return writeAll(deps, session, found.value === null, batches)
}

async function writeAll(
  deps: ImportDeps,
  session: SessionId,
  isNewId: boolean,
  batches: Batches,
): Promise<Result<ImportOutcome>> {
  let messages = 0
  const counted = function* (): Generator<LogBatch> {
    messages = yield* batches
  }
  const written = await writeLog(deps, { session, parent: null, base: 0 }, counted(), { isNewId })
  return written.ok ? ok({ status: written.value.status, session, messages }) : written
}

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

function createStartedEvent(
  { defaultModel, newHandle }: ImportDeps,
  key: Key,
  workdir: string,
  about: ImportedConversation['about'],
  remark: Remark,
): EventOf<'session.started'> {
  const model = findModelName(about.model)
  if (about.model !== undefined && model === null) remark(null, 'model_unknown', `Its model is now ${defaultModel}.`)
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
