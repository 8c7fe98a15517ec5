import { createHash } from 'node:crypto'
import type { AnswerPart, ImportedConversation, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { DocumentFormat } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import * as read from '../parse/messages.ts'

/** Minga: one document per session. Each part of an answer is an entry of its own. */
export const documentFormat: DocumentFormat = {
  name: 'minga',
  owns: (value) =>
    Array.isArray(value['messages']) &&
    (['message_ids', 'remote_token', 'provider_name', 'pinned_ids'].some((name) => name in value) ||
      (value['messages'].length > 0 &&
        value['messages'].every((one) => json.isObject(one) && typeof one['type'] === 'string'))),
  parse,
}

function parse(value: json.JsonObject, remark: Remark): ImportedConversation {
  const ids = json.list(value['message_ids'])
  if (new Set(ids).size !== ids.length) remark(null, 'repeated_message', 'Several messages share an id; all were kept.')
  if (json.list(value['pinned_ids']).length > 0) remark(null, 'unknown_record', 'Pins were left out.')
  const share = createMessageSharing()
  const messages = toMessages(value['messages'], share, remark)
  const branches = json.objects(value['branches']).map((branch) => ({
    name: json.nonBlank(branch['name']) ?? null,
    messages: toMessages(branch['messages'], share, () => undefined),
  }))
  const last = json.time(value['last_message_at']) ?? json.time(value['timestamp']) ?? undefined
  const [id, title, model] = [value['id'], value['title'], value['model_name']].map(json.nonBlank)
  return { about: { id, title, model, createdAt: last, updatedAt: last }, messages, branches }
}

type ShareMessage = (index: number, message: ImportedMessage) => ImportedMessage

/** Reuses equal messages at the same index: a branch is a copy of a line, and shared messages must be the same objects. */
function createMessageSharing(): ShareMessage {
  const known = new Map<string, ImportedMessage>()
  return (index, message) => {
    const name = `${index}:${createHash('sha256').update(JSON.stringify(message)).digest('base64')}`
    const shared = known.get(name) ?? message
    known.set(name, shared)
    return shared
  }
}

function toMessages(entries: unknown, share: ShareMessage, remark: Remark): readonly ImportedMessage[] {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let results: ImportedMessage[] = []
  let hasCall = false
  let startedAt: Origin | null = null
  const push = (message: ImportedMessage) => messages.push(share(messages.length, message))
  const endAnswer = () => {
    if (startedAt) push({ role: 'assistant', ...startedAt, parts })
    for (const result of results) push(result)
    parts = []
    results = []
    hasCall = false
    startedAt = null
  }
  const add = (message: ImportedMessage) => {
    endAnswer()
    push(message)
  }
  for (const [index, value] of json.objects(entries).entries()) {
    const origin = { line: index + 1, at: null }
    const text = json.text(value['text'])
    switch (value['type']) {
      case 'thinking':
      case 'assistant':
        if (text === undefined) break
        if (results.length > 0 || hasCall) endAnswer()
        startedAt ??= origin
        parts.push({ type: value['type'] === 'assistant' ? 'text' : 'thinking', text })
        continue
      case 'tool_call': {
        startedAt ??= origin
        const { name, args, status, is_error, result, duration_ms } = value
        hasCall = true
        parts.push(read.call(index, name, args ?? {}))
        if (status === 'running') continue
        const isFailed = is_error === true || status === 'error'
        const durationMs = typeof duration_ms === 'number' ? json.count(duration_ms) : undefined
        results.push({ ...read.result(origin, index, json.text(result), isFailed, remark), durationMs })
        continue
      }
      case 'user':
        if (text === undefined) break
        add({ role: 'user', ...origin, parts: [{ type: 'text', text }] })
        if (json.list(value['attachments']).length > 0)
          remark(origin.line, 'file_dropped', 'Files of a prompt are not in the export and were left out.')
        continue
      case 'system':
        add(read.note(origin, text ?? '', value['level'] === 'error' ? 'error' : 'info'))
        continue
      case 'usage': {
        const { input, output, cache_read, cache_write, cost } = json.object(value['data'])
        const [cacheRead, cacheWrite] = [json.count(cache_read), json.count(cache_write)]
        const usage = {
          input: json.count(input),
          output: json.count(output),
          cacheRead,
          cacheWrite,
          cost: json.cost(cost),
        }
        add({ role: 'usage', ...origin, usage })
        continue
      }
      default:
        read.remarkUnknownRecord(remark, origin.line, 'An entry', value['type'])
        continue
    }
    remark(origin.line, 'unusable_message', 'An entry without its text was left out.')
  }
  endAnswer()
  return messages
}
