import type { ImportedConversation, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { DocumentFormat, LineFormat, LineParser } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import * as read from '../parse/messages.ts'

const roles = new Set(['user', 'assistant', 'tool', 'system'])

/** picoclaw: one message per line; a companion file describes the session. */
export const lineFormat: LineFormat = {
  name: 'picoclaw',
  hasCompanion: true,
  owns: (value) => roles.has(String(value['role'])) && typeof value['content'] === 'string' && !('type' in value),
  parse(remark, readCompanion) {
    const text = readCompanion()
    const meta = json.parse(text ?? '')
    if (text === null)
      remark(null, 'missing_meta', 'Its .meta.json file is missing: key, summary and truncation are unknown.')
    else if (!json.isObject(meta))
      remark(null, 'damaged_meta', 'Its .meta.json file is damaged: key, summary and truncation are unknown.')
    return createParser(json.object(meta), remark)
  },
}

/** Older picoclaw: one document per session. */
export const documentFormat: DocumentFormat = {
  name: 'picoclaw',
  owns: (value) =>
    typeof value['key'] === 'string' &&
    Array.isArray(value['messages']) &&
    value['messages'].every((one) => json.isObject(one) && typeof one['role'] === 'string'),
  parse(value, remark) {
    const parser = createParser(
      { ...value, skip: 0, created_at: value['created'], updated_at: value['updated'] },
      remark,
    )
    for (const [index, message] of json.objects(value['messages']).entries()) parser.add(message, index + 1, index)
    return parser.end()
  },
}

function createParser(meta: json.JsonObject, remark: Remark): LineParser {
  const skip = Number(meta['skip'] ?? 0)
  const messages: ImportedMessage[] = []
  let firstKept: ImportedMessage | null = null
  let model: string | undefined

  /** Keeps truncated messages in the transcript; the model gets the summary instead. */
  function end(): ImportedConversation {
    const summary = json.nonBlank(meta['summary']) ?? ''
    if (skip > 0 || summary !== '') messages.push(read.checkpoint({ line: 0, at: null }, summary, firstKept))
    const createdAt = json.time(meta['created_at']) ?? undefined
    const updatedAt = json.time(meta['updated_at']) ?? undefined
    const key = json.nonBlank(meta['key'])
    return { about: { id: key, key, model, createdAt, updatedAt }, messages, branches: [] }
  }

  return {
    add(value, line, index) {
      const message = readMessage(value, { line, at: json.time(value['created_at']) }, remark)
      model = json.nonBlank(value['model_name']) ?? model
      if (index >= skip) firstKept ??= message
      messages.push(message)
    },
    end,
  }
}

function readMessage(value: json.JsonObject, origin: Origin, remark: Remark): ImportedMessage {
  const { role } = value
  const text = json.text(value['content']) ?? ''
  if (role === 'tool') return read.result(origin, value['tool_call_id'], text, false, remark)
  if (role === 'user') {
    const files = json.list(value['media']).flatMap((url) => read.fileOfUrl(url, origin.line, remark))
    return { role, ...origin, parts: [{ type: 'text', text }, ...files] }
  }
  if (role !== 'assistant') {
    if (role !== 'system') read.remarkUnknownRole(remark, origin.line, role, 'is now a note')
    return read.note(origin, text)
  }
  const thinking = json.nonBlank(value['reasoning_content'])
  const calls = json.objects(value['tool_calls']).map(({ id, name, function: wanted }) => {
    const { name: tool, arguments: args } = json.object(wanted)
    return read.call(id, json.text(tool) ?? name, json.args(args))
  })
  const said = [{ type: 'thinking', text: thinking ?? '' } as const, { type: 'text', text } as const]
  return { role, ...origin, parts: [...said.filter((part) => part.text !== ''), ...calls] }
}
