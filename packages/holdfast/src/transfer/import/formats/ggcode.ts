import { createHash } from 'node:crypto'
import { ClientEvent } from '@holdfast/protocol'
import type { AnswerPart, Checkpoint, ImportedMessage, ImportedPart, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import * as read from '../parse/messages.ts'

const types = new Set(['meta', 'message', 'checkpoint', 'usage', 'metric', 'cost', 'tunnel_event'])
const costType = 'ggcode.cost'
const summaryMark = '[Previous conversation summary]'

/** ggcode: one record per line, each with its session id. Checkpoints name a summary by id or contain a copy. */
export const lineFormat: LineFormat = {
  name: 'ggcode',
  owns: (value) => types.has(String(value['type'])) && typeof value['session_id'] === 'string',
  parse: createParser,
}

/** `digest` is of the message as a checkpoint copies it, without its id. */
type Entry = { readonly id: string | undefined; readonly digest: string; readonly messages: readonly ImportedMessage[] }
/** A client event, and the number of entries before it. */
type ClientEntry = { readonly position: number; readonly message: Extract<ImportedMessage, { role: 'client' }> }
type CheckpointRecord = { readonly at: Origin; readonly record: json.JsonObject; readonly position: number }

function createParser(remark: Remark): LineParser {
  const entries = createEntries(remark)
  const checkpoints: CheckpointRecord[] = []
  let meta: json.JsonObject = {}
  let id: string | undefined
  let cost: number | null = null

  return {
    add(record, line) {
      id ??= json.nonBlank(record['session_id'])
      const origin = { line, at: json.time(record['timestamp']) }
      switch (record['type']) {
        case 'meta':
          meta = mergeMeta(meta, record)
          return
        case 'message':
          return entries.addMessage(record, origin)
        case 'checkpoint':
          checkpoints.push({ at: origin, record, position: entries.all.length })
          return
        case 'usage':
          return entries.addUsage(json.object(record['usage_entry']), line)
        case 'cost': {
          const usd = json.object(record['cost'])['total_cost_usd']
          if (typeof usd === 'number' && usd > 0) cost = usd
          // Stored unchanged: only ggcode knows its other fields.
          const eventId = `ggcode.cost.${line}`
          return entries.addClientEvent({ eventId, type: costType, data: record['cost'] ?? null }, origin)
        }
        case 'tunnel_event':
          return entries.addClientEvent(readTunnelEvent(json.object(record['tunnel_event'])), origin)
        case 'metric':
          return
        default:
          read.remarkUnknownRecord(remark, line, 'A record', record['type'])
      }
    },

    end() {
      const clientEntries = entries.end()
      const events = meta['tunnel_events_complete'] === true ? markComplete(clientEntries) : clientEntries
      const messages = withCheckpoints(entries.all, checkpoints, events, remark)
      const usage = cost === null ? undefined : { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost }
      return { about: { ...readAbout(id, meta), usage }, messages, branches: [] }
    },
  }
}

/** Collects messages and client events; each id counts once. */
function createEntries(remark: Remark) {
  const all: Entry[] = []
  const clientEntries: ClientEntry[] = []
  const messageIds = new Set<string>()
  const eventIds = new Set<string>()
  let signatures = 0
  return {
    all,
    addMessage(record: json.JsonObject, origin: Origin) {
      const message = record['message']
      if (!json.isObject(message))
        return remark(origin.line, 'unusable_message', 'A message record without a message was left out.')
      const id = json.text(message['id'])
      if (id !== undefined && messageIds.has(id))
        return remark(origin.line, 'repeated_message', `Message ${id} appears twice; the first one counts.`)
      if (id !== undefined) messageIds.add(id)
      const { signatures: more, messages } = readMessage(message, origin, remark)
      signatures += more
      all.push({ id, digest: digestOf(message), messages })
    },
    addUsage(entry: json.JsonObject, line: number) {
      const usage = read.usage(entry['usage'])
      if (usage) all.push(createEntry({ role: 'usage', line, at: json.time(entry['timestamp']), usage }))
    },
    addClientEvent(event: unknown, origin: Origin) {
      const parsed = ClientEvent.safeParse(event)
      if (!parsed.success) return remark(origin.line, 'unknown_record', 'An invalid client event was left out.')
      if (eventIds.has(parsed.data.eventId)) return
      eventIds.add(parsed.data.eventId)
      clientEntries.push({ position: all.length, message: { role: 'client', ...origin, event: parsed.data } })
    },
    end(): readonly ClientEntry[] {
      read.remarkSignatures(remark, signatures)
      return clientEntries
    },
  }
}

function readTunnelEvent({ event_id: eventId, stream_id: streamId, type, data }: json.JsonObject): object {
  return { eventId, type, ...(streamId !== undefined && { streamId }), ...(data !== undefined && { data }) }
}

function readAbout(id: string | undefined, meta: json.JsonObject) {
  const vendor = json.nonBlank(meta['vendor'])
  const model = json.nonBlank(meta['model'])
  return {
    id,
    title: json.nonBlank(meta['title']),
    workdir: json.nonBlank(meta['workspace']),
    model: model !== undefined && vendor !== undefined ? `${vendor}/${model}` : model,
    createdAt: json.time(meta['created_at']) ?? undefined,
    updatedAt: json.time(meta['updated_at']) ?? undefined,
  }
}

/** Marks the first event, so that a grown file still starts with the same records. */
function markComplete(clientEntries: readonly ClientEntry[]): readonly ClientEntry[] {
  const first = clientEntries.find(({ message }) => message.event.type !== costType)
  return clientEntries.map((one) => (one === first ? { ...one, message: { ...one.message, complete: true } } : one))
}

const createEntry = (message: ImportedMessage): Entry => ({ id: undefined, digest: '', messages: [message] })

const metaFields = [
  'title',
  'workspace',
  'vendor',
  'model',
  'created_at',
  'updated_at',
  'tunnel_events_complete',
] as const

/** Takes over the fields that are used and not empty. */
function mergeMeta(meta: json.JsonObject, record: json.JsonObject): json.JsonObject {
  const merged: Record<string, unknown> = { ...meta }
  for (const name of metaFields) if (record[name]) merged[name] = record[name]
  return merged
}

const digestOf = ({ role, content }: json.JsonObject): string =>
  createHash('sha256').update(JSON.stringify({ role, content })).digest('base64')

function readMessage(message: json.JsonObject, origin: Origin, remark: Remark) {
  const { role, content } = message
  const answer: AnswerPart[] = []
  const person: ImportedPart[] = []
  const results: ImportedMessage[] = []
  let signatures = 0
  for (const block of json.objects(content)) {
    const { type, tool_id } = block
    const thinking = json.nonBlank(block['reasoning_content'])
    if (thinking !== undefined) answer.push({ type: 'thinking', text: thinking })
    if (block['thinking_signature'] || block['thinking_data']) signatures++
    if (type === 'text') {
      const parts = role === 'assistant' ? answer : person
      parts.push({ type, text: json.text(block['text']) ?? '' })
    } else if (type === 'image') {
      const bytes = json.bytes(block['image_data'])
      if (bytes && role === 'user') person.push({ type: 'file', bytes })
      else remark(origin.line, 'file_dropped', 'An image that cannot be read was left out.')
    } else if (type === 'tool_use') answer.push(read.call(tool_id, block['tool_name'], json.args(block['input'])))
    else if (type === 'tool_result') {
      const result = read.result(origin, tool_id, json.text(block['output']), block['is_error'], remark)
      const images = json.objects(block['images']).flatMap(({ base64 }) => json.bytes(base64) ?? [])
      results.push({ ...result, files: images.map((bytes) => ({ type: 'file', bytes })) })
    } else if (type !== 'thinking' && type !== 'redacted_thinking') read.remarkUnknownPart(remark, origin.line, type)
  }
  if (role === 'assistant') results.push({ role, ...origin, parts: answer })
  else if (role !== 'user') {
    if (role !== 'system') read.remarkUnknownRole(remark, origin.line, role, 'is now a note')
    results.push(read.note(origin, read.joinTexts(person)))
  } else if (person.length > 0) results.push({ role, ...origin, parts: person })
  return { signatures, messages: results }
}

/** Puts each checkpoint at the position of its summary. The last one counts. */
function withCheckpoints(
  entries: readonly Entry[],
  checkpoints: readonly CheckpointRecord[],
  clientEntries: readonly ClientEntry[],
  remark: Remark,
): ImportedMessage[] {
  const finder = createEntryFinder(entries)
  // Of checkpoints with the same summary the last counts: its text is not written more often than the file has it.
  const bySummary = new Map<Entry | CheckpointRecord, FoundCheckpoint>()
  for (const checkpoint of checkpoints) {
    const found =
      checkpoint.record['checkpoint_messages'] === undefined
        ? findByIds(finder, checkpoint)
        : findByCopy(finder, checkpoint)
    if (found) bySummary.set(found.summary ?? checkpoint, found)
    else remark(checkpoint.at.line, 'checkpoint_dropped', 'A checkpoint whose summary is not in the file was left out.')
  }
  const summaries = new Set([...bySummary.values()].map(({ summary }) => summary))
  const placed = new Map<number, Checkpoint[]>()
  for (const { position, checkpoint } of bySummary.values()) {
    const same = placed.get(position)
    if (same) same.push(checkpoint)
    else placed.set(position, [checkpoint])
  }
  const events = Map.groupBy(clientEntries, ({ position }) => position)
  const messages: ImportedMessage[] = [...(placed.get(0) ?? [])]
  const add = (more: readonly ImportedMessage[] = []) => {
    for (const message of more) messages.push(message)
  }
  const addEvents = (position: number) => add(events.get(position)?.map(({ message }) => message))
  for (const [index, one] of entries.entries()) {
    addEvents(index)
    if (!summaries.has(one)) add(one.messages)
    add(placed.get(index + 1))
  }
  addEvents(entries.length)
  return messages
}

/** Finds entries in constant time, because a file may have as many checkpoints as messages. */
function createEntryFinder(entries: readonly Entry[]) {
  const indexes = new Map<string, number>()
  for (const [index, { id }] of entries.entries()) if (id !== undefined && !indexes.has(id)) indexes.set(id, index)
  // For each index, the first one from there on that has a message.
  const firsts = new Int32Array(entries.length + 1).fill(entries.length)
  for (let index = entries.length - 1; index >= 0; index--)
    firsts[index] = entries[index]?.messages.length ? index : (firsts[index + 1] ?? entries.length)
  const firstFrom = (index: number): number => firsts[Math.max(0, index)] ?? entries.length
  return {
    at: (index: number): Entry | undefined => entries[index],
    indexOf: (id: unknown): number => (typeof id === 'string' ? (indexes.get(id) ?? -1) : -1),
    /** Returns the first message of the entries in a range, without those of entry `except`. */
    firstMessage(from: number, to: number, except = -1): ImportedMessage | null {
      let index = firstFrom(from)
      if (index === except) index = firstFrom(index + 1)
      return (index < to ? entries[index]?.messages[0] : undefined) ?? null
    },
  }
}

type EntryFinder = ReturnType<typeof createEntryFinder>
type FoundCheckpoint = { readonly position: number; readonly checkpoint: Checkpoint; readonly summary: Entry | null }

/** Keeps what follows the last summarized message, also if it was typed while the summary was written. */
function findByIds(finder: EntryFinder, { at, record, position }: CheckpointRecord): FoundCheckpoint | null {
  const index = finder.indexOf(record['checkpoint_summary_msg_id'])
  const summary = finder.at(index)
  if (!summary) return null
  const last = finder.indexOf(record['checkpoint_last_msg_id'])
  const where = Math.max(position, index + 1, last + 1)
  const keepFrom = finder.firstMessage(last === -1 ? index + 1 : last + 1, where, index)
  return { position: where, summary, checkpoint: read.checkpoint(at, readSummary(summary), keepFrom) }
}

/** A copy starts with the summary and ends with messages that are also in the file: those are kept. */
function findByCopy(finder: EntryFinder, { at, record, position }: CheckpointRecord): FoundCheckpoint | null {
  const copy = json.list(record['checkpoint_messages']).filter(json.isObject)
  const copied = copy.flatMap((one) => readMessage(one, at, () => undefined).messages)
  const summaryAt = copied.findIndex((one) => one.role === 'note')
  const tail = copy.slice(summaryAt + 1)
  const from = position - tail.length
  const isInFile = tail.every((one, index) => digestOf(one) === finder.at(from + index)?.digest)
  const summary = copied.flatMap((one) => (one.role === 'note' ? [one.text] : [])).join('\n\n')
  const keepFrom = isInFile && tail.length > 0 ? finder.firstMessage(from, position) : null
  const whole = isInFile
    ? summary
    : [summary, ...copied.flatMap(describeMessage)].filter((text) => text !== '').join('\n\n')
  return { position, summary: null, checkpoint: read.checkpoint(at, dropSummaryMark(whole), keepFrom) }
}

const readSummary = ({ messages }: Entry): string =>
  dropSummaryMark(messages.flatMap((one) => (one.role === 'note' ? [one.text] : describeMessage(one))).join('\n\n'))

const dropSummaryMark = (text: string): string =>
  text.startsWith(summaryMark) ? text.slice(summaryMark.length).trim() : text

/** Returns the text of a message that exists only in the copy, to add it to the summary. */
function describeMessage(message: ImportedMessage): readonly string[] {
  if (message.role === 'result') return [`Result: ${message.text}`]
  if (message.role !== 'user' && message.role !== 'assistant') return []
  const who = message.role === 'user' ? 'User' : 'Agent'
  return message.parts.flatMap((part) => (part.type === 'text' ? [`${who}: ${part.text}`] : []))
}
