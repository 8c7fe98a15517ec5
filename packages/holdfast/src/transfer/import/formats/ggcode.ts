import { ClientEvent } from '@holdfast/protocol'
import type {
  AnswerPart,
  Checkpoint,
  FileAttachment,
  ImportedMessage,
  ImportedPart,
  Origin,
  Remark,
} from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  createCall,
  decodeBase64,
  isObject,
  type JsonObject,
  parseArguments,
  parseTime,
  parseUsage,
  remarkUnknownPart,
  remarkUnknownRecord,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'

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
type CheckpointRecord = { readonly at: Origin; readonly record: JsonObject; readonly position: number }

function createParser(remark: Remark): LineParser {
  let meta: JsonObject = {}
  let id: string | undefined
  const entries: Entry[] = []
  const checkpoints: CheckpointRecord[] = []
  const byId = new Map<string, Entry>()
  let cost: (Origin & { readonly usd: number }) | null = null
  let signatures = 0
  const clients = new Set<string>()
  const clientEntries: ClientEntry[] = []

  const addMessage = (record: JsonObject, origin: Origin) => {
    const message = record['message']
    if (!isObject(message))
      return remark(origin.line, 'unusable_message', 'A message record without a message was left out.')
    const raw = JSON.stringify(message)
    const own = toText(message['id'])
    if (own !== undefined && byId.has(own))
      return remark(origin.line, 'repeated_message', `Message ${own} appears twice; the first one counts.`)
    const read = readMessage(message, origin, remark)
    signatures += read.signatures
    const one = { id: own, raw, messages: read.messages }
    if (own !== undefined) byId.set(own, one)
    entries.push(one)
  }

  const addClientEvent = (event: unknown, origin: Origin) => {
    const read = ClientEvent.safeParse(event)
    if (!read.success) return remark(origin.line, 'unknown_record', 'An invalid client event was left out.')
    if (clients.has(read.data.eventId)) return
    clients.add(read.data.eventId)
    clientEntries.push({ position: entries.length, message: { role: 'client', ...origin, event: read.data } })
  }

  return {
    add(record, line) {
      id ??= toNonBlankText(record['session_id'])
      const origin = { line, at: parseTime(record['timestamp']) }
      switch (record['type']) {
        case 'meta':
          meta = { ...meta, ...dropEmptyFields(record) }
          return
        case 'message':
          return addMessage(record, origin)
        case 'checkpoint':
          checkpoints.push({ at: origin, record, position: entries.length })
          return
        case 'usage': {
          const entry = toObject(record['usage_entry'])
          const usage = parseUsage(entry['usage'])
          if (usage) entries.push(createEntry({ role: 'usage', line, at: parseTime(entry['timestamp']), usage }))
          return
        }
        case 'cost': {
          const usd = toObject(record['cost'])['total_cost_usd']
          if (typeof usd === 'number' && usd > 0) cost = { ...origin, usd }
          // Stored unchanged: only ggcode knows its other fields.
          return addClientEvent(
            { eventId: `ggcode.cost.${line}`, type: costType, data: record['cost'] ?? null },
            origin,
          )
        }
        case 'tunnel_event': {
          const { event_id: eventId, stream_id: streamId, type, data } = toObject(record['tunnel_event'])
          return addClientEvent(
            { eventId, type, ...(streamId !== undefined && { streamId }), ...(data !== undefined && { data }) },
            origin,
          )
        }
        case 'metric':
          return
        default:
          remarkUnknownRecord(remark, line, 'A record', record['type'])
      }
    },

    end() {
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const events = meta['tunnel_events_complete'] === true ? markComplete(clientEntries) : clientEntries
      const messages = withCheckpoints(entries, checkpoints, events, remark)
      if (cost) {
        const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: cost.usd }
        messages.push({ role: 'usage', line: cost.line, at: null, usage })
      }
      const vendor = toNonBlankText(meta['vendor'])
      const model = toNonBlankText(meta['model'])
      return {
        about: {
          id,
          title: toNonBlankText(meta['title']),
          workdir: toNonBlankText(meta['workspace']),
          model: model !== undefined && vendor !== undefined ? `${vendor}/${model}` : model,
          createdAt: parseTime(meta['created_at']) ?? undefined,
          updatedAt: parseTime(meta['updated_at']) ?? undefined,
        },
        messages,
        branches: [],
      }
    },
  }
}

/** Marks the first event, so that a grown file still starts with the same records. */
function markComplete(clientEntries: readonly ClientEntry[]): readonly ClientEntry[] {
  const first = clientEntries.find(({ message }) => message.event.type !== costType)
  return clientEntries.map((one) => (one === first ? { ...one, message: { ...one.message, complete: true } } : one))
}

const createEntry = (message: ImportedMessage): Entry => ({ id: undefined, raw: '', messages: [message] })

const dropEmptyFields = (record: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value !== null && value !== 0))

function readMessage(message: JsonObject, origin: Origin, remark: Remark) {
  const role = message['role']
  const answer: AnswerPart[] = []
  const person: ImportedPart[] = []
  const results: ImportedMessage[] = []
  let signatures = 0
  for (const block of toList(message['content']).map(toObject)) {
    const thinking = toNonBlankText(block['reasoning_content'])
    if (thinking !== undefined) answer.push({ type: 'thinking', text: thinking })
    if (block['thinking_signature'] || block['thinking_data']) signatures++
    const text = toText(block['text']) ?? ''
    if (block['type'] === 'text') {
      if (role === 'assistant') answer.push({ type: 'text', text })
      else person.push({ type: 'text', text })
    } else if (block['type'] === 'image') {
      const bytes = decodeBase64(block['image_data'])
      if (bytes && role === 'user') person.push({ type: 'file', bytes })
      else remark(origin.line, 'file_dropped', 'An image that cannot be read was left out.')
    } else if (block['type'] === 'tool_use') {
      const { tool_id: call, tool_name: tool } = block
      answer.push(createCall(call, tool, parseArguments(block['input'])))
    } else if (block['type'] === 'tool_result') {
      const outcome = block['is_error'] === true ? 'failed' : 'ok'
      const callId = String(block['tool_id'] ?? '')
      const files = toList(block['images']).flatMap((one): FileAttachment[] => {
        const bytes = decodeBase64(toObject(one)['base64'])
        return bytes ? [{ type: 'file', bytes }] : []
      })
      results.push({ role: 'result', ...origin, callId, text: toText(block['output']) ?? '', outcome, files })
    } else if (block['type'] !== 'thinking' && block['type'] !== 'redacted_thinking')
      remarkUnknownPart(remark, origin.line, block['type'])
  }
  return { signatures, messages: [...results, ...toMessages(role, person, answer, origin, remark)] }
}

function toMessages(
  role: unknown,
  person: readonly ImportedPart[],
  answer: readonly AnswerPart[],
  origin: Origin,
  remark: Remark,
): readonly ImportedMessage[] {
  if (role === 'assistant') return [{ role, ...origin, parts: answer }]
  if (role === 'user') return person.length > 0 ? [{ role, ...origin, parts: person }] : []
  const text = person.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  if (role !== 'system')
    remark(origin.line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} is now a note.`)
  return [{ role: 'note', ...origin, level: 'info', text }]
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
  return {
    position: where,
    summary,
    checkpoint: { role: 'checkpoint', ...at, summary: readSummary(summary), keepFrom },
  }
}

/** A copy starts with the summary and ends with messages that are also in the file: those are kept. */
function findByCopy(entries: readonly Entry[], { at, record, position }: CheckpointRecord): FoundCheckpoint | null {
  const copy = toList(record['checkpoint_messages']).filter(isObject)
  const silent: Remark = () => undefined
  const copied = copy.flatMap((one) => readMessage(one, at, silent).messages)
  const summaryAt = copied.findIndex((one) => one.role === 'note')
  const tail = copy.slice(summaryAt + 1).map((one) => JSON.stringify({ role: one['role'], content: one['content'] }))
  const from = position - tail.length
  const isInFile = tail.every((raw, index) => raw === withoutId(entries[from + index]?.raw))
  const summary = copied.flatMap((one) => (one.role === 'note' ? [one.text] : [])).join('\n\n')
  const keepFrom = isInFile && tail.length > 0 ? findFirstMessage(entries, from, position) : null
  const whole = isInFile
    ? summary
    : [summary, ...copied.flatMap(describeMessage)].filter((text) => text !== '').join('\n\n')
  return {
    position,
    summary: null,
    checkpoint: { role: 'checkpoint', ...at, summary: dropSummaryMark(whole), keepFrom },
  }
}

function withoutId(raw: string | undefined): string {
  if (!raw) return ''
  const { role, content } = toObject(JSON.parse(raw))
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
  if (message.role === 'user')
    return message.parts.flatMap((part) => (part.type === 'text' ? [`User: ${part.text}`] : []))
  if (message.role === 'result') return [`Result: ${message.text}`]
  if (message.role !== 'assistant') return []
  return message.parts.flatMap((part) => (part.type === 'text' ? [`Agent: ${part.text}`] : []))
}
