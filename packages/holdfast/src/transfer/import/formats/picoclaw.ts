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
  argumentsOf,
  bytesOf,
  isObject,
  type Loose,
  listOf,
  objectOf,
  textOf,
  timeOf,
  wordsOf,
} from '../parse/loose.ts'
import { parsed } from '../parse/read-lines.ts'

const roles = new Set(['user', 'assistant', 'tool', 'system'])

/** picoclaw: one bare message a line; what is known of the session stands in a file beside it. */
export const picoclaw: LineFormat = {
  name: 'picoclaw',
  owns: (value) => roles.has(String(value['role'])) && typeof value['content'] === 'string' && !('type' in value),
  async parse(remark, beside) {
    const text = await beside('.jsonl', '.meta.json')
    const meta = text === null ? null : parsed(text)
    if (text === null)
      remark(null, 'missing_meta', 'The file beside it is missing: key, summary and what was cut off are unknown.')
    else if (!isObject(meta))
      remark(null, 'damaged_meta', 'The file beside it is damaged: key, summary and what was cut off are unknown.')
    return createParser(objectOf(meta), remark)
  },
}

function createParser(meta: Loose, remark: Remark): LineParser {
  const skip = Number(meta['skip'] ?? 0)
  const messages: ImportedMessage[] = []
  let firstKept: ImportedMessage | null = null
  let model: string | undefined
  return {
    add(value, line, place) {
      const read = readMessage(value, { line, at: timeOf(value['created_at']) }, remark)
      model = wordsOf(value['model_name']) ?? model
      if (place >= skip) firstKept ??= read[0] ?? null
      messages.push(...read)
    },
    end: () => conversation(meta, messages, model, { isCut: skip > 0, firstKept }),
  }
}

/** picoclaw before it had lines: one document a session. */
export const picoclawLegacy: DocumentFormat = {
  name: 'picoclaw',
  owns: (value) =>
    typeof value['key'] === 'string' &&
    Array.isArray(value['messages']) &&
    value['messages'].every((one) => isObject(one) && typeof one['role'] === 'string'),
  parse(value, remark) {
    let model: string | undefined
    const messages = listOf(value['messages']).flatMap((one, index) => {
      const message = objectOf(one)
      model = wordsOf(message['model_name']) ?? model
      return readMessage(message, { line: index + 1, at: timeOf(message['created_at']) }, remark)
    })
    const meta = { ...value, created_at: value['created'], updated_at: value['updated'] }
    return conversation(meta, messages, model, { isCut: false, firstKept: messages[0] ?? null })
  },
}

/** What was cut off stays in the transcript: the model is told the summary in its place. */
function conversation(
  meta: Loose,
  messages: readonly ImportedMessage[],
  model: string | undefined,
  { isCut, firstKept }: { readonly isCut: boolean; readonly firstKept: ImportedMessage | null },
): ImportedConversation {
  const summary = wordsOf(meta['summary']) ?? ''
  const at = timeOf(meta['updated_at'])
  const checkpoint: ImportedMessage = { role: 'checkpoint', line: 0, at: null, summary, keepFrom: firstKept }
  return {
    about: {
      id: wordsOf(meta['key']),
      model,
      createdAt: timeOf(meta['created_at']) ?? undefined,
      updatedAt: at ?? undefined,
    },
    messages: isCut || summary !== '' ? [...messages, checkpoint] : messages,
    branches: [],
  }
}

function readMessage(value: Loose, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const { role } = value
  const text = textOf(value['content']) ?? ''
  if (role === 'tool') {
    return [{ role: 'result', ...origin, callId: String(value['tool_call_id'] ?? ''), text, outcome: 'ok' }]
  }
  if (role === 'user') return [{ role, ...origin, parts: [{ type: 'text', text }, ...filesOf(value, origin, remark)] }]
  if (role !== 'assistant') {
    if (role !== 'system')
      remark(origin.line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} is now a note.`)
    return [{ role: 'note', ...origin, level: 'info', text }]
  }
  const thinking = wordsOf(value['reasoning_content'])
  const calls = listOf(value['tool_calls']).map((one): AnswerPart => {
    const call = objectOf(one)
    const wanted = objectOf(call['function'])
    return {
      type: 'call',
      id: String(call['id'] ?? ''),
      tool: textOf(wanted['name']) ?? textOf(call['name']) ?? '',
      args: argumentsOf(wanted['arguments']),
    }
  })
  const parts: AnswerPart[] = [
    ...(thinking === undefined ? [] : [{ type: 'thinking', text: thinking } as const]),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls,
  ]
  return [{ role, ...origin, parts }]
}

function filesOf(value: Loose, { line }: Origin, remark: Remark): readonly ImportedPart[] {
  return listOf(value['media']).flatMap((one): ImportedPart[] => {
    const [, data] = typeof one === 'string' ? (/^data:[^,]*;base64,(.*)$/s.exec(one) ?? []) : []
    const bytes = bytesOf(data)
    if (bytes) return [{ type: 'file', bytes }]
    remark(line, 'file_dropped', 'A file that lies elsewhere, or that cannot be read, was left out.')
    return []
  })
}
