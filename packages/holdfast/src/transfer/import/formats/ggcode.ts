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
  argumentsOf,
  bytesOf,
  isObject,
  type Loose,
  listOf,
  objectOf,
  textOf,
  timeOf,
  usageOf,
  wordsOf,
} from '../parse/loose.ts'

const types = new Set(['meta', 'message', 'checkpoint', 'usage', 'metric', 'cost', 'tunnel_event'])
const costType = 'ggcode.cost'
const summaryMark = '[Previous conversation summary]'

/** ggcode: one record a line, every record naming its session. Checkpoints name a summary by id, or bring a copy of it all. */
export const ggcode: LineFormat = {
  name: 'ggcode',
  owns: (value) => types.has(String(value['type'])) && typeof value['session_id'] === 'string',
  parse: createParser,
}

type Said = { readonly id: string | undefined; readonly raw: string; readonly messages: readonly ImportedMessage[] }
/** What a client left, and how many messages were said before it. */
type Left = { readonly place: number; readonly message: Extract<ImportedMessage, { role: 'client' }> }
type Mark = { readonly at: Origin; readonly record: Loose; readonly place: number }

function createParser(remark: Remark): LineParser {
  let meta: Loose = {}
  let id: string | undefined
  const said: Said[] = []
  const marks: Mark[] = []
  const byId = new Map<string, Said>()
  let cost: (Origin & { readonly usd: number }) | null = null
  let signatures = 0
  const clients = new Set<string>()
  const left: Left[] = []

  const addMessage = (record: Loose, origin: Origin) => {
    const message = record['message']
    if (!isObject(message))
      return remark(origin.line, 'unusable_message', 'A message record without a message was left out.')
    const raw = JSON.stringify(message)
    const own = textOf(message['id'])
    if (own !== undefined && byId.has(own))
      return remark(origin.line, 'repeated_message', `Message ${own} is there twice; the first counts.`)
    const read = readMessage(message, origin, remark)
    signatures += read.signatures
    const one = { id: own, raw, messages: read.messages }
    if (own !== undefined) byId.set(own, one)
    said.push(one)
  }

  const addClientEvent = (event: unknown, origin: Origin) => {
    const read = ClientEvent.safeParse(event)
    if (!read.success)
      return remark(origin.line, 'unknown_record', 'An event of a client that cannot be kept was left out.')
    if (clients.has(read.data.eventId)) return
    clients.add(read.data.eventId)
    left.push({ place: said.length, message: { role: 'client', ...origin, event: read.data } })
  }

  return {
    add(record, line) {
      id ??= wordsOf(record['session_id'])
      const origin = { line, at: timeOf(record['timestamp']) }
      switch (record['type']) {
        case 'meta':
          meta = { ...meta, ...present(record) }
          return
        case 'message':
          return addMessage(record, origin)
        case 'checkpoint':
          marks.push({ at: origin, record, place: said.length })
          return
        case 'usage': {
          const entry = objectOf(record['usage_entry'])
          const usage = usageOf(entry['usage'])
          if (usage) said.push(alone({ role: 'usage', line, at: timeOf(entry['timestamp']), usage }))
          return
        }
        case 'cost': {
          const usd = objectOf(record['cost'])['total_cost_usd']
          if (typeof usd === 'number' && usd > 0) cost = { ...origin, usd }
          // As it is: what else it says, only that program knows.
          return addClientEvent(
            { eventId: `ggcode.cost.${line}`, type: costType, data: record['cost'] ?? null },
            origin,
          )
        }
        case 'tunnel_event': {
          const { event_id: eventId, stream_id: streamId, type, data } = objectOf(record['tunnel_event'])
          return addClientEvent(
            { eventId, type, ...(streamId !== undefined && { streamId }), ...(data !== undefined && { data }) },
            origin,
          )
        }
        case 'metric':
          return
        default:
          remark(line, 'unknown_record', `A record of the unknown type ${JSON.stringify(record['type'])} was left out.`)
      }
    },

    end() {
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const events = meta['tunnel_events_complete'] === true ? markedComplete(left) : left
      const messages = withCheckpoints(said, marks, events, remark)
      if (cost) {
        const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: cost.usd }
        messages.push({ role: 'usage', line: cost.line, at: null, usage })
      }
      const vendor = wordsOf(meta['vendor'])
      const model = wordsOf(meta['model'])
      return {
        about: {
          id,
          title: wordsOf(meta['title']),
          workdir: wordsOf(meta['workspace']),
          model: model !== undefined && vendor !== undefined ? `${vendor}/${model}` : model,
          createdAt: timeOf(meta['created_at']) ?? undefined,
          updatedAt: timeOf(meta['updated_at']) ?? undefined,
        },
        messages,
        branches: [],
      }
    },
  }
}

/** Said with the first of them: what a later file adds changes nothing before it. */
function markedComplete(left: readonly Left[]): readonly Left[] {
  const first = left.find(({ message }) => message.event.type !== costType)
  return left.map((one) => (one === first ? { ...one, message: { ...one.message, complete: true } } : one))
}

const alone = (message: ImportedMessage): Said => ({ id: undefined, raw: '', messages: [message] })

const present = (record: Loose): Loose =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value !== null && value !== 0))

function readMessage(message: Loose, origin: Origin, remark: Remark) {
  const role = message['role']
  const answer: AnswerPart[] = []
  const person: ImportedPart[] = []
  const results: ImportedMessage[] = []
  let signatures = 0
  for (const block of listOf(message['content']).map(objectOf)) {
    const thinking = wordsOf(block['reasoning_content'])
    if (thinking !== undefined) answer.push({ type: 'thinking', text: thinking })
    if (block['thinking_signature'] || block['thinking_data']) signatures++
    const text = textOf(block['text']) ?? ''
    if (block['type'] === 'text') {
      if (role === 'assistant') answer.push({ type: 'text', text })
      else person.push({ type: 'text', text })
    } else if (block['type'] === 'image') {
      const bytes = bytesOf(block['image_data'])
      if (bytes && role === 'user') person.push({ type: 'file', bytes })
      else remark(origin.line, 'file_dropped', 'An image that cannot be read was left out.')
    } else if (block['type'] === 'tool_use') {
      const { tool_id: call, tool_name: tool } = block
      answer.push({ type: 'call', id: String(call ?? ''), tool: textOf(tool) ?? '', args: argumentsOf(block['input']) })
    } else if (block['type'] === 'tool_result') {
      const outcome = block['is_error'] === true ? 'failed' : 'ok'
      const callId = String(block['tool_id'] ?? '')
      const files = listOf(block['images']).flatMap((one): FileAttachment[] => {
        const bytes = bytesOf(objectOf(one)['base64'])
        return bytes ? [{ type: 'file', bytes }] : []
      })
      results.push({ role: 'result', ...origin, callId, text: textOf(block['output']) ?? '', outcome, files })
    } else if (block['type'] !== 'thinking' && block['type'] !== 'redacted_thinking')
      remark(origin.line, 'unknown_part', `A part of the unknown type ${JSON.stringify(block['type'])} was left out.`)
  }
  return { signatures, messages: [...results, ...spoken(role, person, answer, origin, remark)] }
}

function spoken(
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

/** Puts each checkpoint where its summary stood. The last of them is the one that counts. */
function withCheckpoints(
  said: readonly Said[],
  marks: readonly Mark[],
  left: readonly Left[],
  remark: Remark,
): ImportedMessage[] {
  const placed = new Map<number, Checkpoint[]>()
  const summaries = new Set<Said>()
  for (const mark of marks) {
    const found = mark.record['checkpoint_messages'] === undefined ? byIds(said, mark) : byCopy(said, mark)
    if (found === null) {
      remark(mark.at.line, 'checkpoint_dropped', 'A checkpoint whose summary is not in the file was left out.')
      continue
    }
    if (found.summary) summaries.add(found.summary)
    placed.set(found.place, [...(placed.get(found.place) ?? []), found.checkpoint])
  }
  const events = Map.groupBy(left, ({ place }) => place)
  const leftAt = (place: number) => (events.get(place) ?? []).map(({ message }) => message)
  const messages: ImportedMessage[] = [...(placed.get(0) ?? [])]
  for (const [index, one] of said.entries()) {
    messages.push(...leftAt(index))
    if (!summaries.has(one)) messages.push(...one.messages)
    messages.push(...(placed.get(index + 1) ?? []))
  }
  return [...messages, ...leftAt(said.length)]
}

type Found = { readonly place: number; readonly checkpoint: Checkpoint; readonly summary: Said | null }

/** What was said after the last message that was summed up is kept, also where it was typed while the summary was written. */
function byIds(said: readonly Said[], { at, record, place }: Mark): Found | null {
  const named = (name: string) => said.findIndex(({ id }) => id !== undefined && id === record[name])
  const index = named('checkpoint_summary_msg_id')
  const summary = said[index]
  if (!summary) return null
  const last = named('checkpoint_last_msg_id')
  const where = Math.max(place, index + 1, last + 1)
  const others = said.map((one) => (one === summary ? { ...one, messages: [] } : one))
  const keepFrom = firstOf(others, last === -1 ? index + 1 : last + 1, where)
  return { place: where, summary, checkpoint: { role: 'checkpoint', ...at, summary: wordsIn(summary), keepFrom } }
}

/** The copy begins with the summary and ends with messages that are in the file as well: from there on they were kept. */
function byCopy(said: readonly Said[], { at, record, place }: Mark): Found | null {
  const copy = listOf(record['checkpoint_messages']).filter(isObject)
  const silent: Remark = () => undefined
  const told = copy.flatMap((one) => readMessage(one, at, silent).messages)
  const summaryAt = told.findIndex((one) => one.role === 'note')
  const tail = copy.slice(summaryAt + 1).map((one) => JSON.stringify({ role: one['role'], content: one['content'] }))
  const from = place - tail.length
  const isThere = tail.every((raw, index) => raw === withoutId(said[from + index]?.raw))
  const summary = told.flatMap((one) => (one.role === 'note' ? [one.text] : [])).join('\n\n')
  const keepFrom = isThere && tail.length > 0 ? firstOf(said, from, place) : null
  const whole = isThere ? summary : [summary, ...told.flatMap(inWords)].filter((text) => text !== '').join('\n\n')
  return { place, summary: null, checkpoint: { role: 'checkpoint', ...at, summary: unmarked(whole), keepFrom } }
}

function withoutId(raw: string | undefined): string {
  if (!raw) return ''
  const { role, content } = objectOf(JSON.parse(raw))
  return JSON.stringify({ role, content })
}

const firstOf = (said: readonly Said[], from: number, to: number): ImportedMessage | null =>
  said.slice(Math.max(0, from), to).flatMap(({ messages }) => messages)[0] ?? null

const wordsIn = ({ messages }: Said): string =>
  unmarked(messages.flatMap((one) => (one.role === 'note' ? [one.text] : inWords(one))).join('\n\n'))

const unmarked = (text: string): string => (text.startsWith(summaryMark) ? text.slice(summaryMark.length).trim() : text)

/** A message of a copy that is nowhere else, as words of the summary. */
function inWords(message: ImportedMessage): readonly string[] {
  if (message.role === 'user')
    return message.parts.flatMap((part) => (part.type === 'text' ? [`User: ${part.text}`] : []))
  if (message.role === 'result') return [`Result: ${message.text}`]
  if (message.role !== 'assistant') return []
  return message.parts.flatMap((part) => (part.type === 'text' ? [`Agent: ${part.text}`] : []))
}
