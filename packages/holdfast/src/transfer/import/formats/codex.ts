import type { AnswerPart, CallResult, ImportedMessage, ImportedPart, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  argumentsOf,
  bytesOf,
  countOf,
  isObject,
  isUsed,
  type Loose,
  listOf,
  objectOf,
  resultOf,
  textOf,
  timeOf,
  wordsOf,
} from '../parse/loose.ts'
import { parsed } from '../parse/read-lines.ts'

const wrappers = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'])
const items = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'custom_tool_call',
  'custom_tool_call_output',
])
/** What the program itself put into a user's mouth. */
const contextMark =
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions|collaboration_mode|skill)\b|# AGENTS\.md instructions)/

/** Codex: what went to and came from the model, one item a line, in an envelope since its second form. */
export const codex: LineFormat = {
  name: 'codex',
  owns: (value) =>
    (wrappers.has(String(value['type'])) && isObject(value['payload'])) ||
    value['record_type'] === 'state' ||
    (items.has(String(value['type'])) &&
      !('session_id' in value) &&
      !('message' in value) &&
      !('sessionId' in value)) ||
    (typeof value['id'] === 'string' && 'timestamp' in value && 'instructions' in value),
  parse: createParser,
}

function createParser(remark: Remark): LineParser {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let began: Origin | null = null
  let head: Loose = {}
  let context: Loose = {}
  let encrypted = 0
  let counted = ''
  let updatedAt: number | undefined

  const endAnswer = () => {
    if (began) messages.push({ role: 'assistant', ...began, parts })
    parts = []
    began = null
  }
  const answer = (origin: Origin, part: AnswerPart) => {
    began ??= origin
    parts.push(part)
  }
  const add = (message: ImportedMessage) => {
    endAnswer()
    messages.push(message)
  }

  const addItem = (item: Loose, origin: Origin) => {
    switch (item['type']) {
      case 'message':
        if (item['role'] === 'assistant') answer(origin, { type: 'text', text: textIn(item['content']) })
        else add(saidBy(item, origin, remark))
        return
      case 'reasoning': {
        if (item['encrypted_content']) encrypted++
        const text = textIn(item['summary']) || textIn(item['content'])
        if (text !== '') {
          if (parts.some(({ type }) => type === 'call')) endAnswer()
          answer(origin, { type: 'thinking', text })
        }
        return
      }
      case 'function_call':
      case 'custom_tool_call': {
        const args = item['type'] === 'function_call' ? argumentsOf(item['arguments']) : { input: item['input'] }
        return answer(origin, {
          type: 'call',
          id: String(item['call_id'] ?? ''),
          tool: textOf(item['name']) ?? '',
          args,
        })
      }
      case 'local_shell_call':
        return answer(origin, {
          type: 'call',
          id: String(item['call_id'] ?? item['id'] ?? ''),
          tool: 'shell',
          args: objectOf(item['action']),
        })
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        return add({ role: 'result', ...origin, callId: String(item['call_id'] ?? ''), ...outputOf(item['output']) })
      case 'ghost_snapshot':
      case 'web_search_call':
        return
      default:
        if (item['record_type'] === 'state') return
        remark(
          origin.line,
          'unknown_record',
          `An item of the unknown type ${JSON.stringify(item['type'])} was left out.`,
        )
    }
  }

  const addCount = (payload: Loose, origin: Origin) => {
    const info = objectOf(payload['info'])
    const total = JSON.stringify(info['total_token_usage'] ?? null)
    const last = objectOf(info['last_token_usage'])
    if (payload['type'] !== 'token_count' || total === counted) return
    counted = total
    const cacheRead = countOf(last['cached_input_tokens'])
    const input = Math.max(0, countOf(last['input_tokens']) - cacheRead)
    const usage = { input, output: countOf(last['output_tokens']), cacheRead, cacheWrite: 0, cost: null }
    if (isUsed(usage)) messages.push({ role: 'usage', ...origin, usage })
  }

  return {
    add(value, line) {
      const origin = { line, at: timeOf(value['timestamp']) }
      updatedAt = origin.at ?? updatedAt
      const payload = objectOf(value['payload'])
      if (value['type'] === 'session_meta') head = 'id' in head ? head : payload
      else if (value['type'] === 'turn_context') context = { ...context, ...payload }
      else if (value['type'] === 'response_item') addItem(payload, origin)
      else if (value['type'] === 'event_msg') addCount(payload, origin)
      else if (value['type'] === 'compacted')
        add({ role: 'checkpoint', ...origin, summary: textOf(payload['message']) ?? '', keepFrom: null })
      else if (!('type' in value) && 'instructions' in value) head = 'id' in head ? head : value
      else addItem(value, origin)
    },
    end() {
      endAnswer()
      if (encrypted > 0) remark(null, 'signature_dropped', `${encrypted} encrypted pieces of thinking were left out.`)
      const model = wordsOf(context['model']) ?? wordsOf(head['model'])
      return {
        about: {
          id: wordsOf(head['id']),
          workdir: wordsOf(head['cwd']) ?? wordsOf(context['cwd']),
          model: model === undefined ? undefined : `${wordsOf(head['model_provider']) ?? 'openai'}/${model}`,
          createdAt: timeOf(head['timestamp']) ?? undefined,
          updatedAt,
        },
        messages,
        branches: [],
      }
    },
  }
}

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => textOf(objectOf(part)['text']) ?? '')
        .filter((text) => text !== '')
        .join('\n\n')

function saidBy(item: Loose, origin: Origin, remark: Remark): ImportedMessage {
  const text = textIn(item['content'])
  if (item['role'] !== 'user' || contextMark.test(text)) return { role: 'note', ...origin, level: 'info', text }
  const files = listOf(item['content'])
    .map(objectOf)
    .flatMap((part): ImportedPart[] => {
      if (part['type'] !== 'input_image') return []
      const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(textOf(part['image_url']) ?? '') ?? []
      const bytes = bytesOf(data)
      if (bytes) return [{ type: 'file', bytes }]
      remark(origin.line, 'file_dropped', 'A file that lies elsewhere, or that cannot be read, was left out.')
      return []
    })
  return { role: 'user', ...origin, parts: [{ type: 'text', text }, ...files] }
}

/** A text, a text that is JSON around one, or parts. */
function outputOf(output: unknown): Pick<CallResult, 'text' | 'outcome'> {
  const value = typeof output === 'string' ? parsed(output) : output
  if (isObject(value)) {
    const isFailed = value['success'] === false || Number(objectOf(value['metadata'])['exit_code'] ?? 0) !== 0
    const text = value['output'] ?? value['content']
    if (typeof text === 'string' && ('metadata' in value || 'success' in value))
      return { text, outcome: isFailed ? 'failed' : 'ok' }
    if (typeof output !== 'string')
      return { text: resultOf(text ?? output, () => undefined).text, outcome: isFailed ? 'failed' : 'ok' }
  }
  return { text: resultOf(output, () => undefined).text, outcome: 'ok' }
}
