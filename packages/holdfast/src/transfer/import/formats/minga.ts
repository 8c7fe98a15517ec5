import type { AnswerPart, ImportedConversation, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { DocumentFormat } from '../parse/format.ts'
import { countOf, isObject, type Loose, listOf, objectOf, textOf, timeOf, wordsOf } from '../parse/loose.ts'

/** Minga: one document a session; what an answer was made of stands apart, one entry each. */
export const minga: DocumentFormat = {
  name: 'minga',
  owns: (value) =>
    Array.isArray(value['messages']) &&
    (['message_ids', 'remote_token', 'provider_name', 'pinned_ids'].some((name) => name in value) ||
      (value['messages'].length > 0 &&
        value['messages'].every((one) => isObject(one) && typeof one['type'] === 'string'))),
  parse,
}

function parse(value: Loose, remark: Remark): ImportedConversation {
  const ids = listOf(value['message_ids'])
  const entries = listOf(value['messages'])
  if (ids.length > 0 && new Set(ids).size !== ids.length)
    remark(null, 'repeated_message', 'Several messages share an id; all were kept.')
  if (listOf(value['pinned_ids']).length > 0) remark(null, 'unknown_record', 'Which messages were pinned was left out.')
  const share = createShare()
  const messages = toMessages(entries, share, remark)
  const branches = listOf(value['branches'])
    .map(objectOf)
    .map((branch) => ({
      name: wordsOf(branch['name']) ?? null,
      messages: toMessages(listOf(branch['messages']), share, () => undefined),
    }))
  const last = timeOf(value['last_message_at']) ?? timeOf(value['timestamp']) ?? undefined
  return {
    about: {
      id: wordsOf(value['id']),
      title: wordsOf(value['title']),
      model: wordsOf(value['model_name']),
      createdAt: last,
      updatedAt: last,
    },
    messages,
    branches,
  }
}

type Share = (index: number, message: ImportedMessage) => ImportedMessage

/** A branch is a copy of a line: what it has in common with another, from the start, becomes the same objects again. */
function createShare(): Share {
  const known = new Map<string, ImportedMessage>()
  return (index, message) => {
    const name = `${index}:${JSON.stringify(message)}`
    const before = known.get(name)
    if (before) return before
    known.set(name, message)
    return message
  }
}

function toMessages(entries: readonly unknown[], share: Share, remark: Remark): readonly ImportedMessage[] {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let results: ImportedMessage[] = []
  let began: Origin | null = null
  const add = (message: ImportedMessage) => messages.push(share(messages.length, message))
  const endAnswer = () => {
    if (began) add({ role: 'assistant', ...began, parts })
    for (const result of results) add(result)
    parts = []
    results = []
    began = null
  }
  for (const [index, entry] of entries.entries()) {
    const value = objectOf(entry)
    const origin = { line: index + 1, at: null }
    const text = textOf(value['text'])
    switch (value['type']) {
      case 'thinking':
      case 'assistant':
        if (text === undefined) break
        if (results.length > 0 || parts.some(({ type }) => type === 'call')) endAnswer()
        began ??= origin
        parts.push({ type: value['type'] === 'assistant' ? 'text' : 'thinking', text })
        continue
      case 'tool_call': {
        began ??= origin
        const id = `${index}`
        parts.push({ type: 'call', id, tool: textOf(value['name']) ?? '', args: value['args'] ?? {} })
        if (value['status'] === 'running') continue
        const outcome = value['is_error'] === true || value['status'] === 'error' ? 'failed' : 'ok'
        const durationMs = typeof value['duration_ms'] === 'number' ? countOf(value['duration_ms']) : undefined
        results.push({
          role: 'result',
          ...origin,
          callId: id,
          text: textOf(value['result']) ?? '',
          outcome,
          durationMs,
        })
        continue
      }
      case 'user':
        if (text === undefined) break
        endAnswer()
        add({ role: 'user', ...origin, parts: [{ type: 'text', text }] })
        if (listOf(value['attachments']).length > 0)
          remark(origin.line, 'file_dropped', 'Files of a prompt are not in the file, and were left out.')
        continue
      case 'system':
        endAnswer()
        add({ role: 'note', ...origin, level: value['level'] === 'error' ? 'error' : 'info', text: text ?? '' })
        continue
      case 'usage': {
        endAnswer()
        const { input, output, cache_read, cache_write, cost } = objectOf(value['data'])
        const usage = {
          ...{ input: countOf(input), output: countOf(output) },
          ...{ cacheRead: countOf(cache_read), cacheWrite: countOf(cache_write) },
          cost: typeof cost === 'number' && cost >= 0 ? cost : null,
        }
        add({ role: 'usage', ...origin, usage })
        continue
      }
      default:
        remark(
          origin.line,
          'unknown_record',
          `An entry of the unknown type ${JSON.stringify(value['type'])} was left out.`,
        )
        continue
    }
    remark(origin.line, 'unusable_message', 'An entry without its text was left out.')
  }
  endAnswer()
  return messages
}
