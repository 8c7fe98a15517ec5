import {
  type ClientEvent,
  fault,
  Handle,
  HoldfastError,
  limits,
  type Meta,
  orThrow,
  parseCommand,
  type SessionHandle,
  type Sessions,
} from '@holdfast/protocol'
import { readOptions } from '../session/arguments.ts'
import { type AddedMessage, type MessageSeed, toSeeds } from '../session/seed-messages.ts'
import { createSession, type Session } from '../session/session.ts'
import { findNamed } from './by-name.ts'

/** A whole session as a value, for `save`. Times and usage are those of its records; `import` keeps those of a file. */
export type SessionData = {
  /** The session: its id, its handle, or an id of the program, which becomes its key. A new session when absent. */
  readonly id?: string | undefined
  /** All its messages: of the program, or as `messages()` returned them, with their pins. Notices and usage are left out. */
  readonly messages: readonly AddedMessage[]
  /** Its title; unchanged when absent. */
  readonly title?: string | undefined
  /** Its folder; the current one for a new session. */
  readonly workspace?: string | undefined
  /** Its model; the default one for a new session. */
  readonly model?: string | undefined
  /** The summary that precedes the messages in the model's context. */
  readonly summary?: string | undefined
  /** Events of clients; each is stored once. */
  readonly clientEvents?: readonly ClientEvent[] | undefined
  /** Whether the client events cover the whole session. */
  readonly clientEventsComplete?: boolean | undefined
}

/** A session, or its id, unique prefix of an id, or handle. */
export type SessionOrName = string | Pick<Session, 'id'>

/** Returns whether a value names a session. A session object has a method `messages`, and the value of one a list. */
export const isSession = (value: SessionOrName | SessionData): value is SessionOrName =>
  typeof value === 'string' ||
  (typeof value === 'object' && value !== null && 'messages' in value && typeof value.messages === 'function')

/** Resolves if all answered commands are on disk. Refused: storage_error while the store refuses writes of the session. */
export async function confirmSaved(sessions: Sessions, session: SessionOrName): Promise<void> {
  const handle = await findNamed(sessions, typeof session === 'string' ? session : session.id)
  const { here } = orThrow(await handle.state(['here']))
  // A session that is not loaded has no pending writes.
  if (here?.storageError) throw new HoldfastError(fault('storage_error', refusing, { session: handle.id }))
}

/** Returns the metadata of a session; null if it has no message. */
export async function metaOf(sessions: Sessions, name: string): Promise<Meta | null> {
  const { meta } = orThrow(await (await findNamed(sessions, name)).state(['meta']))
  return meta.messageCount > 0 ? meta : null
}

const refusing =
  'The store refuses the writes of this session. Free disk space or repair the store; it retries by itself.'

/** Creates the session, or changes it to these values. Messages that are there already are not written again. */
export async function saveSession(sessions: Sessions, given: SessionData): Promise<Session> {
  const data = readSessionData(given)
  // A new session begins with its messages: a crash leaves all of them or no session.
  const { handle, isNew } = await findOrStart(sessions, data, firstBatch(data.messages))
  const session = createSession(handle)
  const messages = data.messages.filter(isSaid)
  const changes = await compareMessages(session, messages)
  if (!isNew) {
    const isRunning = ['thinking', 'tool_executing'].includes(await session.status())
    if (isRunning && (changes.replaces || changes.batches.length > 0)) throw new HoldfastError(running) // before anything is changed
    await changeSettings(session, data)
  }
  await writeMessages(session, changes)
  await pin(session, messages)
  const { summary, clientEvents = [], clientEventsComplete } = data
  if (summary !== undefined && summary !== (await session.getSummary())) await session.setSummary(summary)
  for (const [index, event] of clientEvents.entries()) {
    const isLast = index === clientEvents.length - 1
    await session.appendClientEvent(event, isLast && clientEventsComplete ? { complete: true } : {})
  }
  return session
}

const running = fault('turn_running', 'A turn is running. Wait for it, or abort it, and save again.')

/** Returns the metadata of the session; starts it without messages if there is none. Null if no person has said anything. */
export async function ensureMeta(sessions: Sessions, given: SessionData): Promise<Meta | null> {
  const data = readSessionData(given)
  if (!data.messages.some(isOfPerson)) return null
  return createSession((await findOrStart(sessions, data)).handle).metadata()
}

const fieldTypes: Readonly<Record<Exclude<keyof SessionData, 'messages' | 'clientEvents'>, 'string' | 'boolean'>> = {
  id: 'string',
  title: 'string',
  workspace: 'string',
  model: 'string',
  summary: 'string',
  clientEventsComplete: 'boolean',
}

/** Checks the form of the whole value before anything is changed: not every program has types. Refused: bad_request. */
function readSessionData(given: SessionData): SessionData {
  const data = readOptions(given, [...Object.keys(fieldTypes), 'messages', 'clientEvents'])
  for (const [name, type] of Object.entries(fieldTypes)) {
    const value: unknown = Reflect.get(data, name)
    if (value !== undefined && typeof value !== type)
      throw new HoldfastError(fault('bad_request', `The ${name} of a session must be a ${type}.`))
  }
  const { messages, clientEvents } = data
  if (!Array.isArray(messages) || messages.some((one) => typeof one !== 'object' || one === null))
    throw new HoldfastError(fault('bad_request', 'A session has messages. Give them as a list of messages.'))
  for (const batch of inBatches(toSeeds(messages.filter(isSaid))))
    orThrow(parseCommand({ type: 'seedMessages', messages: batch }))
  if (data.title !== undefined) orThrow(parseCommand({ type: 'rename', title: data.title }))
  if (data.summary !== undefined) orThrow(parseCommand({ type: 'setSummary', summary: data.summary }))
  if (clientEvents !== undefined && !Array.isArray(clientEvents))
    throw new HoldfastError(fault('bad_request', 'Give the clientEvents of a session as a list.'))
  for (const event of clientEvents ?? []) orThrow(parseCommand({ type: 'appendClientEvent', event }))
  return { ...data, messages }
}

const isOfPerson = (message: AddedMessage): boolean =>
  'kind' in message ? message.kind === 'user' : message.role === 'user'

/** Finds the session by its id, its key or its handle, in this order. */
async function findSaved(sessions: Sessions, { id }: SessionData): Promise<SessionHandle | null> {
  if (id === undefined) return null
  if (id.startsWith('ses_')) return orThrow(await sessions.open(id))
  const byKey = orThrow(await sessions.findByKey(id))
  if (byKey !== null || !Handle.safeParse(id).success) return byKey
  const byHandle = await sessions.open(id)
  return !byHandle.ok && byHandle.fault.code === 'session_not_found' ? null : orThrow(byHandle)
}

/** Returns the session of a value; starts it with these messages if there is none. */
async function findOrStart(
  sessions: Sessions,
  data: SessionData,
  messages: readonly MessageSeed[] = [],
): Promise<{ readonly handle: SessionHandle; readonly isNew: boolean }> {
  const known = await findSaved(sessions, data)
  if (known) return { handle: known, isNew: false }
  const { id, title, workspace, model } = data
  const started = await sessions.start({
    ...(workspace !== undefined && { workdir: workspace }),
    ...(id !== undefined && { key: id }),
    ...(messages.length > 0 && { messages: [...messages] }),
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
  })
  // Another save may have created it since the look-up; this one then changes it.
  const other = !started.ok && started.fault.code === 'key_taken' ? await findSaved(sessions, data) : null
  return other ? { handle: other, isNew: false } : { handle: orThrow(started), isNew: true }
}

async function changeSettings(session: Session, { title, model, workspace }: SessionData): Promise<void> {
  const meta = await session.metadata()
  // Only the runtime knows whether a model or a folder exists. A refused one leaves the title and the messages as they are.
  if (model !== undefined && model !== meta.model) await session.setModel(model)
  if (workspace !== undefined && workspace !== meta.workspace) await session.moveWorkdir(workspace)
  if (title !== undefined && title !== meta.title) await session.rename(title)
}

/** Whether a message is part of the conversation. Usage and notices are remarks of the session itself. */
const isSaid = (message: AddedMessage): boolean =>
  'role' in message || (message.kind !== 'usage' && message.kind !== 'notice')

/** What must be written so that a session has other messages: in lists that are accepted. */
type MessageChanges = { readonly replaces: boolean; readonly batches: readonly (readonly MessageSeed[])[] }

/** Finds the messages that are new. All of them replace the history if an earlier message differs. */
async function compareMessages(session: Session, messages: readonly AddedMessage[]): Promise<MessageChanges> {
  const [before, after] = [toSeeds((await session.messages()).filter(isSaid)), toSeeds(messages)]
  const [has, wants] = [withoutIds(before), withoutIds(after)]
  const isPrefix = has.every((text, index) => text === wants[index])
  const isCut = after[before.length]?.role === 'tool' // the results of a call are added with it
  const replaces = !isPrefix || isCut
  return { replaces, batches: inBatches(replaces ? after : after.slice(before.length)) }
}

async function writeMessages(session: Session, { replaces, batches }: MessageChanges): Promise<void> {
  const [first, ...rest] = batches
  if (replaces) await session.setHistory(first ?? [])
  else if (first) await session.seedMessages(first)
  for (const batch of rest) await session.seedMessages(batch)
}

/** Returns each message as text that does not depend on the ids of its calls. */
function withoutIds(seeds: readonly MessageSeed[]): readonly string[] {
  const numbers = new Map<string, number>()
  const numberOf = (id: string) => {
    const number = numbers.get(id) ?? numbers.size
    numbers.set(id, number)
    return number
  }
  return seeds.map((seed) => {
    if (seed.role === 'user') return JSON.stringify(['user', seed.content])
    if (seed.role === 'system') return JSON.stringify(['system', seed.content, seed.level ?? 'info'])
    if (seed.role === 'tool')
      return JSON.stringify(['tool', numberOf(seed.toolCallId), seed.content, seed.isError ?? false])
    const calls = (seed.toolCalls ?? []).map(({ id, tool, args = {} }) => [numberOf(id), tool, args])
    return JSON.stringify(['assistant', seed.thinking ?? '', seed.content, calls])
  })
}

/** Splits messages so that each list is accepted, and a call and its results stay together. */
function inBatches(seeds: readonly MessageSeed[]): readonly (readonly MessageSeed[])[] {
  const batches: MessageSeed[][] = []
  for (let from = 0; from < seeds.length; ) {
    let end = Math.min(from + limits.seedMessagesMax, seeds.length)
    while (end < seeds.length && end > from + 1 && seeds[end]?.role === 'tool') end--
    batches.push(seeds.slice(from, end))
    from = end
  }
  return batches
}

const firstBatch = (messages: readonly AddedMessage[]): readonly MessageSeed[] =>
  inBatches(toSeeds(messages.filter(isSaid)))[0] ?? []

/** Pins and unpins the messages as they are in the value. Messages of the program say nothing about pins. */
async function pin(session: Session, given: readonly AddedMessage[]): Promise<void> {
  if (!given.some((message) => 'kind' in message)) return
  const written = (await session.messages()).filter(isSaid)
  if (written.length !== given.length) return // messages of the program have other parts, and no pins
  for (const [index, message] of given.entries()) {
    const one = written[index]
    if (one && 'kind' in message && message.pinned !== one.pinned) await session.togglePin(one.id)
  }
}
