import { createHash } from 'node:crypto'
import {
  createLocalSession,
  findByKey,
  loadSession,
  type SessionRegistry,
  type SessionState,
  walkLine,
} from '@holdfast/core'
import {
  type CommandInput,
  clipLine,
  fault,
  HoldfastError,
  Key,
  ok,
  orThrow,
  type Recorded,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import { conversationEvents, fromRecords, type PlacedMessage } from './from-records.ts'
import type { Operation } from './operation.ts'
import { toSeed } from './to-seed.ts'

const digested = 'sha256:'

/** The key of the session: the conversation's own, or its digest where that could be none. Data, and no file name. */
export function keyOf(name: string): Key {
  const key = Key.safeParse(name)
  if (key.success && !name.startsWith(digested)) return key.data
  // By its code units: two names that differ in half a character only are two.
  return Key.parse(`${digested}${createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex')}`)
}

/** The session behind a key: found by its key unless it is awake, and made when there is something to keep. */
export interface ConversationSession {
  /** The session's id; null when there is none. */
  find(): Promise<Result<SessionId | null>>
  /** Writes one operation, or several messages at once; resolves when it is durable. The same id is written once. */
  write(operations: readonly Operation[], commandId: string): Promise<Result<unknown>>
  history(): Promise<readonly PlacedMessage[]>
  summary(): Promise<string>
}

export function createConversationSession(
  registry: SessionRegistry,
  name: string,
  workdir: string,
): ConversationSession {
  const { store } = registry.deps
  const key = keyOf(name)

  let last: SessionId | null = null

  /** While it is awake here nobody else can put it into the trash or give its key away. */
  async function find(): Promise<Result<SessionId | null>> {
    if (last !== null && registry.awake(last)) return ok(last)
    const found = await findByKey(store, key)
    last = found.ok ? found.value : null
    return found
  }

  async function start(): Promise<Result<SessionId | null>> {
    const started = await registry.start({ workdir, key })
    if (started.ok) {
      last = started.value.id
      return ok(last)
    }
    // Another process may have started it meanwhile: then theirs is the one.
    return started.fault.code === 'key_taken' ? find() : started
  }

  async function stateOf(id: SessionId): Promise<SessionState> {
    const awake = registry.awake(id)
    return (awake ? awake.folded() : orThrow(await loadSession(store, id))).state
  }

  async function placed(id: SessionId): Promise<readonly PlacedMessage[]> {
    const { line, seq } = await stateOf(id)
    const records: Recorded[] = []
    for await (const record of walkLine(store, id, clipLine(line, 0, seq), { types: conversationEvents })) {
      if ('lost' in record) throw new HoldfastError(unreadable(name, record.seq))
      records.push(record)
    }
    return fromRecords(records)
  }

  async function commandFor(id: SessionId, operations: readonly Operation[]): Promise<CommandInput | null> {
    const [first] = operations
    if (first === undefined) return null
    switch (first.type) {
      case 'add':
        return { type: 'seedMessages', messages: operations.flatMap(seedsOf) }
      case 'set':
        return { type: 'setHistory', messages: seedsOf(first) }
      case 'summary':
        return { type: 'setSummary', summary: first.summary }
      case 'truncate': {
        const history = await placed(id)
        if (first.keepLast >= history.length) return null
        const from = first.keepLast === 0 ? (await stateOf(id)).seq + 1 : history.at(-first.keepLast)?.seq
        return from === undefined ? null : { type: 'truncateHistory', from }
      }
    }
  }

  return {
    find,
    async write(operations, commandId) {
      const known = await find()
      if (!known.ok) return known
      if (known.value === null && operations.every(leavesNothing)) return known
      const id = known.value === null ? await start() : known
      if (!id.ok || id.value === null) return id
      try {
        const command = await commandFor(id.value, operations)
        return command === null ? known : await createLocalSession(registry, id.value).submit(command, { commandId })
      } catch (cause) {
        if (cause instanceof HoldfastError) return refuse(cause.toFault())
        throw cause
      }
    },
    async history() {
      const id = orThrow(await find())
      return id === null ? [] : placed(id)
    },
    async summary() {
      const id = orThrow(await find())
      const checkpoint = id === null ? null : (await stateOf(id)).checkpoint
      if (id === null || checkpoint === null) return ''
      const [record] = await store.read(id, { after: checkpoint - 1, upTo: checkpoint, limit: 1 })
      if (!record || 'lost' in record) throw new HoldfastError(unreadable(name, checkpoint))
      return record.event.type === 'checkpoint.written' ? record.event.summary : ''
    },
  }
}

const seedsOf = (operation: Operation) =>
  operation.type === 'add'
    ? [toSeed(operation.message)]
    : operation.type === 'set'
      ? operation.messages.map(toSeed)
      : []

/** Whether a conversation that is not there need not be made for it. */
const leavesNothing = (operation: Operation): boolean =>
  operation.type === 'truncate' ||
  (operation.type === 'set' && operation.messages.length === 0) ||
  (operation.type === 'summary' && operation.summary === '')

const unreadable = (key: string, seq: number) =>
  fault('log_damaged', `A message of the conversation ${JSON.stringify(key)} cannot be read.`, { key, seq })
