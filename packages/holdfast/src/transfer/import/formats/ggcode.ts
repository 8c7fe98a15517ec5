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

type Entry = { readonly id: string | undefined; readonly raw: string; readonly messages: readonly ImportedMessage[] }
/** A client event, and the number of entries before it. */
type ClientEntry = { readonly position: number; readonly message: Extract<ImportedMessage, { role: 'client' }> }
type CheckpointRecord = { readonly at: Origin; readonly record: json.JsonObject; readonly position: number }

function createParser(remark: Remark): LineParser {
  const entries = createEntries(remark)
  const checkpoints: CheckpointRecord[] = []
  let meta: json.JsonObject = {}
  let id: string | undefined
  let cost: (Origin & { readonly usd: number }) | null = null

  return {
    add(record, line) {
      id ??= json.nonBlank(record['session_id'])
      const origin = { line, at: json.time(record['timestamp']) }
      switch (record['type']) {
        case 'meta':
          meta = { ...meta, ...dropEmptyFields(record) }
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
          if (typeof usd === 'number' && usd > 0) cost = { ...origin, usd }
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
      if (cost) {
        const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: cost.usd }
        messages.push({ role: 'usage', line: cost.line, at: null, usage })
      }
      return { about: readAbout(id, meta), messages, branches: [] }
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
      all.push({ id, raw: JSON.stringify(message), messages })
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

const createEntry = (message: ImportedMessage): Entry => ({ id: undefined, raw: '', messages: [message] })

const dropEmptyFields = (record: json.JsonObject): json.JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value !== null && value !== 0))

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
  const placed = new Map<number, Checkpoint[]>()
  const summaries = new Set<Entry>()
  for (const checkpoint of checkpoints) {
    const found =
      checkpoint.record['checkpoint_messages'] === undefined
        ? findByIds(entries, checkpoint)
        : findByCopy(entries, checkpoint)
    if (found === null) {
      remark(checkpoint.at.line, 'checkpoint_dropped', 'A checkpoint whose summary is not in the file was left out.')
      continue
    }
    if (found.summary) summaries.add(found.summary)
    placed.set(found.position, [...(placed.get(found.position) ?? []), found.checkpoint])
  }
  const events = Map.groupBy(clientEntries, ({ position }) => position)
  const leftAt = (position: number) => (events.get(position) ?? []).map(({ message }) => message)
  const messages: ImportedMessage[] = [...(placed.get(0) ?? [])]
  for (const [index, one] of entries.entries()) {
    messages.push(...leftAt(index))
    if (!summaries.has(one)) messages.push(...one.messages)
    messages.push(...(placed.get(index + 1) ?? []))
  }
  return [...messages, ...leftAt(entries.length)]
}

type FoundCheckpoint = { readonly position: number; readonly checkpoint: Checkpoint; readonly summary: Entry | null }

/** Keeps what follows the last summarized message, also if it was typed while the summary was written. */
function findByIds(entries: readonly Entry[], { at, record, position }: CheckpointRecord): FoundCheckpoint | null {
  const named = (name: string) => entries.findIndex(({ id }) => id !== undefined && id === record[name])
  const index = named('checkpoint_summary_msg_id')
  const summary = entries[index]
  if (!summary) return null
  const last = named('checkpoint_last_msg_id')
  const where = Math.max(position, index + 1, last + 1)
  const others = entries.map((one) => (one === summary ? { ...one, messages: [] } : one))
  const keepFrom = findFirstMessage(others, last === -1 ? index + 1 : last + 1, where)
  return { position: where, summary, checkpoint: read.checkpoint(at, readSummary(summary), keepFrom) }
}

/** A copy starts with the summary and ends with messages that are also in the file: those are kept. */
function findByCopy(entries: readonly Entry[], { at, record, position }: CheckpointRecord): FoundCheckpoint | null {
  const copy = json.list(record['checkpoint_messages']).filter(json.isObject)
  const copied = copy.flatMap((one) => readMessage(one, at, () => undefined).messages)
  const summaryAt = copied.findIndex((one) => one.role === 'note')
  const tail = copy.slice(summaryAt + 1).map((one) => JSON.stringify({ role: one['role'], content: one['content'] }))
  const from = position - tail.length
  const isInFile = tail.every((raw, index) => raw === withoutId(entries[from + index]?.raw))
  const summary = copied.flatMap((one) => (one.role === 'note' ? [one.text] : [])).join('\n\n')
  const keepFrom = isInFile && tail.length > 0 ? findFirstMessage(entries, from, position) : null
  const whole = isInFile
    ? summary
    : [summary, ...copied.flatMap(describeMessage)].filter((text) => text !== '').join('\n\n')
  return { position, summary: null, checkpoint: read.checkpoint(at, dropSummaryMark(whole), keepFrom) }
}

function withoutId(raw: string | undefined): string {
  if (!raw) return ''
  const { role, content } = json.object(JSON.parse(raw))
  return JSON.stringify({ role, content })
}

const findFirstMessage = (entries: readonly Entry[], from: number, to: number): ImportedMessage | null =>
  entries.slice(Math.max(0, from), to).flatMap(({ messages }) => messages)[0] ?? null

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
