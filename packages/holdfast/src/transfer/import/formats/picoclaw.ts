import type {
  AnswerPart,
  ImportedConversation,
  ImportedMessage,
  ImportedPart,
  Origin,
  Remark,
} from '../parse/conversation.ts'
import type { DocumentFormat, LineFormat, LineParser } from '../parse/format.ts'
import {
  createCall,
  decodeBase64,
  isObject,
  type JsonObject,
  parseArguments,
  parseTime,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'
import { parseJson } from '../parse/read-lines.ts'

const roles = new Set(['user', 'assistant', 'tool', 'system'])

/** picoclaw: one message per line; a companion file describes the session. */
export const lineFormat: LineFormat = {
  name: 'picoclaw',
  owns: (value) => roles.has(String(value['role'])) && typeof value['content'] === 'string' && !('type' in value),
  async parse(remark, readCompanion) {
    const text = await readCompanion('.jsonl', '.meta.json')
    const meta = text === null ? null : parseJson(text)
    if (text === null)
      remark(null, 'missing_meta', 'Its .meta.json file is missing: key, summary and truncation are unknown.')
    else if (!isObject(meta))
      remark(null, 'damaged_meta', 'Its .meta.json file is damaged: key, summary and truncation are unknown.')
    return createParser(toObject(meta), remark)
  },
}

function createParser(meta: JsonObject, remark: Remark): LineParser {
  const skip = Number(meta['skip'] ?? 0)
  const messages: ImportedMessage[] = []
  let firstKept: ImportedMessage | null = null
  let model: string | undefined
  return {
    add(value, line, index) {
      const read = readMessage(value, { line, at: parseTime(value['created_at']) }, remark)
      model = toNonBlankText(value['model_name']) ?? model
      if (index >= skip) firstKept ??= read[0] ?? null
      messages.push(...read)
    },
    end: () => createConversation(meta, messages, model, { isCut: skip > 0, firstKept }),
  }
}

/** Older picoclaw: one document per session. */
export const documentFormat: DocumentFormat = {
  name: 'picoclaw',
  owns: (value) =>
    typeof value['key'] === 'string' &&
    Array.isArray(value['messages']) &&
    value['messages'].every((one) => isObject(one) && typeof one['role'] === 'string'),
  parse(value, remark) {
    let model: string | undefined
    const messages = toList(value['messages']).flatMap((one, index) => {
      const message = toObject(one)
      model = toNonBlankText(message['model_name']) ?? model
      return readMessage(message, { line: index + 1, at: parseTime(message['created_at']) }, remark)
    })
    const meta = { ...value, created_at: value['created'], updated_at: value['updated'] }
    return createConversation(meta, messages, model, { isCut: false, firstKept: messages[0] ?? null })
  },
}

/** Keeps truncated messages in the transcript; the model gets the summary instead. */
function createConversation(
  meta: JsonObject,
  messages: readonly ImportedMessage[],
  model: string | undefined,
  { isCut, firstKept }: { readonly isCut: boolean; readonly firstKept: ImportedMessage | null },
): ImportedConversation {
  const summary = toNonBlankText(meta['summary']) ?? ''
  const at = parseTime(meta['updated_at'])
  const checkpoint: ImportedMessage = { role: 'checkpoint', line: 0, at: null, summary, keepFrom: firstKept }
  return {
    about: {
      id: toNonBlankText(meta['key']),
      model,
      createdAt: parseTime(meta['created_at']) ?? undefined,
      updatedAt: at ?? undefined,
    },
    messages: isCut || summary !== '' ? [...messages, checkpoint] : messages,
    branches: [],
  }
}

function readMessage(value: JsonObject, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const { role } = value
  const text = toText(value['content']) ?? ''
  if (role === 'tool') {
    return [{ role: 'result', ...origin, callId: String(value['tool_call_id'] ?? ''), text, outcome: 'ok' }]
  }
  if (role === 'user')
    return [{ role, ...origin, parts: [{ type: 'text', text }, ...listFiles(value, origin, remark)] }]
  if (role !== 'assistant') {
    if (role !== 'system')
      remark(origin.line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} is now a note.`)
    return [{ role: 'note', ...origin, level: 'info', text }]
  }
  const thinking = toNonBlankText(value['reasoning_content'])
  const calls = toList(value['tool_calls']).map((one): AnswerPart => {
    const call = toObject(one)
    const wanted = toObject(call['function'])
    return createCall(call['id'], toText(wanted['name']) ?? call['name'], parseArguments(wanted['arguments']))
  })
  const parts: AnswerPart[] = [
    ...(thinking === undefined ? [] : [{ type: 'thinking', text: thinking } as const]),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls,
  ]
  return [{ role, ...origin, parts }]
}

function listFiles(value: JsonObject, { line }: Origin, remark: Remark): readonly ImportedPart[] {
  return toList(value['media']).flatMap((one): ImportedPart[] => {
    const [, data] = typeof one === 'string' ? (/^data:[^,]*;base64,(.*)$/s.exec(one) ?? []) : []
    const bytes = decodeBase64(data)
    if (bytes) return [{ type: 'file', bytes }]
    remark(line, 'file_dropped', 'A file that is stored elsewhere or unreadable was left out.')
    return []
  })
}
