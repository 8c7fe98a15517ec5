import { createHash } from 'node:crypto'
import { createLocalSession, findByKey, loadSession, type SessionRegistry, walkLine } from '@holdfast/core'
import {
  CommandId,
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
import { conversationEvents, fromRecords, type StoredMessage } from './from-records.ts'
import type { Operation } from './operation.ts'
import { toSeed } from './to-seed.ts'

const digestPrefix = 'sha256:'

/** Returns the session key of a conversation: its name, or a digest if the name is not a valid key. */
export function createKey(name: string): Key {
  const key = Key.safeParse(name)
  if (key.success && !name.startsWith(digestPrefix)) return key.data
  // Hash UTF-16 code units: names that differ only in an unpaired surrogate are different.
  return Key.parse(`${digestPrefix}${createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex')}`)
}

export type ConversationSession = ReturnType<typeof createConversationSession>

/** Reads and writes the session of a conversation, found by its key and created with the first write. */
export function createConversationSession(registry: SessionRegistry, name: string) {
  const { stores } = registry
  const key = createKey(name)

  let last: SessionId | null = null

  /** Returns the session's id, or null. Skips the lookup while the session is loaded: then nothing else can trash it or change its key. */
  async function find(): Promise<Result<SessionId | null>> {
    if (last !== null && registry.loaded(last)) return ok(last)
    const found = await findByKey(stores, key)
    last = found.ok ? found.value : null
    return found
  }

  async function start(workdir: string): Promise<Result<SessionId | null>> {
    const started = await registry.start({ workdir, key })
    if (started.ok) {
      last = started.value.id
      return ok(last)
    }
    // Another process may have started it in the meantime: use that session.
    return started.fault.code === 'key_taken' ? find() : started
  }

  async function readState(id: SessionId) {
    const loaded = registry.loaded(id)
    return (loaded ? loaded.folded() : orThrow(await loadSession(stores.storeOf(id), id))).state
  }

  async function readHistory(id: SessionId): Promise<readonly StoredMessage[]> {
    const { line, seq } = await readState(id)
    const records: Recorded[] = []
    const spans = clipLine(line, 0, seq)
    for await (const record of walkLine(stores.storeOf(id), id, spans, { types: conversationEvents })) {
      if ('lost' in record) throw new HoldfastError(createDamagedFault(name, record.seq))
      records.push(record)
    }
    return fromRecords(records)
  }

  async function createCommand(id: SessionId, operations: readonly Operation[]): Promise<CommandInput | null> {
    const [first] = operations
    if (first === undefined) return null
    switch (first.type) {
      case 'add':
        return { type: 'seedMessages', messages: operations.flatMap(toSeeds) }
      case 'set':
        return { type: 'setHistory', messages: toSeeds(first) }
      case 'summary':
        return { type: 'setSummary', summary: first.summary }
      case 'truncate': {
        const history = await readHistory(id)
        if (first.keepLast >= history.length) return null
        const from = first.keepLast === 0 ? (await readState(id)).seq + 1 : history.at(-first.keepLast)?.seq
        return from === undefined ? null : { type: 'truncateHistory', from }
      }
    }
  }

  return {
    find,
    /**
     * Writes one operation, or several messages at once; durable when resolved. The same command id is written once. A new
     * session starts in `workdir`.
     */
    async write(operations: readonly Operation[], commandId: string, workdir: string): Promise<Result<unknown>> {
      const known = await find()
      if (!known.ok) return known
      if (known.value === null && operations.every(isEmptyOperation)) return known
      const id = known.value === null ? await start(workdir) : known
      if (!id.ok || id.value === null) return id
      try {
        // A truncation counts from the end of the history, so a retry would be another command.
        const isTruncation = operations[0]?.type === 'truncate'
        const seen = isTruncation && (await stores.storeOf(id.value).findCommand(id.value, CommandId.parse(commandId)))
        if (seen) return id
        const command = await createCommand(id.value, operations)
        return command === null ? known : await createLocalSession(registry, id.value).submit(command, { commandId })
      } catch (cause) {
        if (cause instanceof HoldfastError) return refuse(cause.toFault())
        throw cause
      }
    },
    async history(): Promise<readonly StoredMessage[]> {
      const id = orThrow(await find())
      return id === null ? [] : readHistory(id)
    },
    async summary(): Promise<string> {
      const id = orThrow(await find())
      const checkpoint = id === null ? null : (await readState(id)).checkpoint
      if (id === null || checkpoint === null) return ''
      const range = { after: checkpoint - 1, upTo: checkpoint, limit: 1 }
      const [record] = await stores.storeOf(id).read(id, range)
      if (!record || 'lost' in record) throw new HoldfastError(createDamagedFault(name, checkpoint))
      return record.event.type === 'checkpoint.written' ? record.event.summary : ''
    },
  }
}

const toSeeds = (operation: Operation) =>
  operation.type === 'add'
    ? [toSeed(operation.message)]
    : operation.type === 'set'
      ? operation.messages.map(toSeed)
      : []

/** Returns whether an operation on a missing conversation has no effect. */
const isEmptyOperation = (operation: Operation): boolean =>
  operation.type === 'truncate' ||
  (operation.type === 'set' && operation.messages.length === 0) ||
  (operation.type === 'summary' && operation.summary === '')

const createDamagedFault = (key: string, seq: number) =>
  fault('log_damaged', `A message of the conversation ${JSON.stringify(key)} cannot be read.`, { key, seq })
