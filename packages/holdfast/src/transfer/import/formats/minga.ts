import type { AnswerPart, ImportedConversation, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { DocumentFormat } from '../parse/format.ts'
import {
  isObject,
  type JsonObject,
  parseTime,
  remarkUnknownRecord,
  toCount,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'

/** Minga: one document per session. Each part of an answer is an entry of its own. */
export const documentFormat: DocumentFormat = {
  name: 'minga',
  owns: (value) =>
    Array.isArray(value['messages']) &&
    (['message_ids', 'remote_token', 'provider_name', 'pinned_ids'].some((name) => name in value) ||
      (value['messages'].length > 0 &&
        value['messages'].every((one) => isObject(one) && typeof one['type'] === 'string'))),
  parse,
}

function parse(value: JsonObject, remark: Remark): ImportedConversation {
  const ids = toList(value['message_ids'])
  const entries = toList(value['messages'])
  if (ids.length > 0 && new Set(ids).size !== ids.length)
    remark(null, 'repeated_message', 'Several messages share an id; all were kept.')
  if (toList(value['pinned_ids']).length > 0) remark(null, 'unknown_record', 'Pins were left out.')
  const share = createMessageSharing()
  const messages = toMessages(entries, share, remark)
  const branches = toList(value['branches'])
    .map(toObject)
    .map((branch) => ({
      name: toNonBlankText(branch['name']) ?? null,
      messages: toMessages(toList(branch['messages']), share, () => undefined),
    }))
  const last = parseTime(value['last_message_at']) ?? parseTime(value['timestamp']) ?? undefined
  return {
    about: {
      id: toNonBlankText(value['id']),
      title: toNonBlankText(value['title']),
      model: toNonBlankText(value['model_name']),
      createdAt: last,
      updatedAt: last,
    },
    messages,
    branches,
  }
}

type ShareMessage = (index: number, message: ImportedMessage) => ImportedMessage

/** Reuses equal messages at the same index: a branch is a copy of a line, and shared messages must be the same objects. */
function createMessageSharing(): ShareMessage {
  const known = new Map<string, ImportedMessage>()
  return (index, message) => {
    const name = `${index}:${JSON.stringify(message)}`
    const before = known.get(name)
    if (before) return before
    known.set(name, message)
    return message
  }
}

function toMessages(entries: readonly unknown[], share: ShareMessage, remark: Remark): readonly ImportedMessage[] {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let results: ImportedMessage[] = []
  let startedAt: Origin | null = null
  const add = (message: ImportedMessage) => messages.push(share(messages.length, message))
  const endAnswer = () => {
    if (startedAt) add({ role: 'assistant', ...startedAt, parts })
    for (const result of results) add(result)
    parts = []
    results = []
    startedAt = null
  }
  for (const [index, entry] of entries.entries()) {
    const value = toObject(entry)
    const origin = { line: index + 1, at: null }
    const text = toText(value['text'])
    switch (value['type']) {
      case 'thinking':
      case 'assistant':
        if (text === undefined) break
        if (results.length > 0 || parts.some(({ type }) => type === 'call')) endAnswer()
        startedAt ??= origin
        parts.push({ type: value['type'] === 'assistant' ? 'text' : 'thinking', text })
        continue
      case 'tool_call': {
        startedAt ??= origin
        const id = `${index}`
        parts.push({ type: 'call', id, tool: toText(value['name']) ?? '', args: value['args'] ?? {} })
        if (value['status'] === 'running') continue
        const outcome = value['is_error'] === true || value['status'] === 'error' ? 'failed' : 'ok'
        const durationMs = typeof value['duration_ms'] === 'number' ? toCount(value['duration_ms']) : undefined
        results.push({
          role: 'result',
          ...origin,
          callId: id,
          text: toText(value['result']) ?? '',
          outcome,
          durationMs,
        })
        continue
      }
      case 'user':
        if (text === undefined) break
        endAnswer()
        add({ role: 'user', ...origin, parts: [{ type: 'text', text }] })
        if (toList(value['attachments']).length > 0)
          remark(origin.line, 'file_dropped', 'Files of a prompt are not in the export and were left out.')
        continue
      case 'system':
        endAnswer()
        add({ role: 'note', ...origin, level: value['level'] === 'error' ? 'error' : 'info', text: text ?? '' })
        continue
      case 'usage': {
        endAnswer()
        const { input, output, cache_read, cache_write, cost } = toObject(value['data'])
        const usage = {
          ...{ input: toCount(input), output: toCount(output) },
          ...{ cacheRead: toCount(cache_read), cacheWrite: toCount(cache_write) },
          cost: typeof cost === 'number' && cost >= 0 ? cost : null,
        }
        add({ role: 'usage', ...origin, usage })
        continue
      }
      default:
        remarkUnknownRecord(remark, origin.line, 'An entry', value['type'])
        continue
    }
    remark(origin.line, 'unusable_message', 'An entry without its text was left out.')
  }
  endAnswer()
  return messages
}
