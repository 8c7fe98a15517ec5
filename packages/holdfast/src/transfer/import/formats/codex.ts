import type { AnswerPart, CallResult, ImportedMessage, ImportedPart, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  createCall,
  decodeBase64,
  hasTokens,
  isObject,
  type JsonObject,
  parseArguments,
  parseResult,
  parseTime,
  remarkUnknownRecord,
  toCount,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'
import { parseJson } from '../parse/read-lines.ts'

const envelopes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'])
const items = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'custom_tool_call',
  'custom_tool_call_output',
])
/** Matches text that Codex itself adds as user messages. */
const contextMark =
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions|collaboration_mode|skill)\b|# AGENTS\.md instructions)/

/** Codex: one model item per line, in an envelope since its second version. */
export const lineFormat: LineFormat = {
  name: 'codex',
  owns: (value) =>
    (envelopes.has(String(value['type'])) && isObject(value['payload'])) ||
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
  let startedAt: Origin | null = null
  let head: JsonObject = {}
  let context: JsonObject = {}
  let encrypted = 0
  let lastTotal = ''
  let updatedAt: number | undefined

  const endAnswer = () => {
    if (startedAt) messages.push({ role: 'assistant', ...startedAt, parts })
    parts = []
    startedAt = null
  }
  const answer = (origin: Origin, part: AnswerPart) => {
    startedAt ??= origin
    parts.push(part)
  }
  const add = (message: ImportedMessage) => {
    endAnswer()
    messages.push(message)
  }

  const addItem = (item: JsonObject, origin: Origin) => {
    switch (item['type']) {
      case 'message':
        if (item['role'] === 'assistant') answer(origin, { type: 'text', text: joinTexts(item['content']) })
        else add(readUserMessage(item, origin, remark))
        return
      case 'reasoning': {
        if (item['encrypted_content']) encrypted++
        const text = joinTexts(item['summary']) || joinTexts(item['content'])
        if (text !== '') {
          if (parts.some(({ type }) => type === 'call')) endAnswer()
          answer(origin, { type: 'thinking', text })
        }
        return
      }
      case 'function_call':
      case 'custom_tool_call': {
        const args = item['type'] === 'function_call' ? parseArguments(item['arguments']) : { input: item['input'] }
        return answer(origin, createCall(item['call_id'], item['name'], args))
      }
      case 'local_shell_call':
        return answer(origin, {
          type: 'call',
          id: String(item['call_id'] ?? item['id'] ?? ''),
          tool: 'shell',
          args: toObject(item['action']),
        })
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        return add({ role: 'result', ...origin, callId: String(item['call_id'] ?? ''), ...readOutput(item['output']) })
      case 'ghost_snapshot':
      case 'web_search_call':
        return
      default:
        if (item['record_type'] === 'state') return
        remarkUnknownRecord(remark, origin.line, 'An item', item['type'])
    }
  }

  const addCount = (payload: JsonObject, origin: Origin) => {
    const info = toObject(payload['info'])
    const total = JSON.stringify(info['total_token_usage'] ?? null)
    const last = toObject(info['last_token_usage'])
    if (payload['type'] !== 'token_count' || total === lastTotal) return
    lastTotal = total
    const cacheRead = toCount(last['cached_input_tokens'])
    const input = Math.max(0, toCount(last['input_tokens']) - cacheRead)
    const usage = { input, output: toCount(last['output_tokens']), cacheRead, cacheWrite: 0, cost: null }
    if (hasTokens(usage)) messages.push({ role: 'usage', ...origin, usage })
  }

  return {
    add(value, line) {
      const origin = { line, at: parseTime(value['timestamp']) }
      updatedAt = origin.at ?? updatedAt
      const payload = toObject(value['payload'])
      if (value['type'] === 'session_meta') head = 'id' in head ? head : payload
      else if (value['type'] === 'turn_context') context = { ...context, ...payload }
      else if (value['type'] === 'response_item') addItem(payload, origin)
      else if (value['type'] === 'event_msg') addCount(payload, origin)
      else if (value['type'] === 'compacted')
        add({ role: 'checkpoint', ...origin, summary: toText(payload['message']) ?? '', keepFrom: null })
      else if (!('type' in value) && 'instructions' in value) head = 'id' in head ? head : value
      else addItem(value, origin)
    },
    end() {
      endAnswer()
      if (encrypted > 0) remark(null, 'signature_dropped', `${encrypted} encrypted pieces of thinking were left out.`)
      const model = toNonBlankText(context['model']) ?? toNonBlankText(head['model'])
      return {
        about: {
          id: toNonBlankText(head['id']),
          workdir: toNonBlankText(head['cwd']) ?? toNonBlankText(context['cwd']),
          model: model === undefined ? undefined : `${toNonBlankText(head['model_provider']) ?? 'openai'}/${model}`,
          createdAt: parseTime(head['timestamp']) ?? undefined,
          updatedAt,
        },
        messages,
        branches: [],
      }
    },
  }
}

const joinTexts = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : toList(content)
        .map((part) => toText(toObject(part)['text']) ?? '')
        .filter((text) => text !== '')
        .join('\n\n')

function readUserMessage(item: JsonObject, origin: Origin, remark: Remark): ImportedMessage {
  const text = joinTexts(item['content'])
  if (item['role'] !== 'user' || contextMark.test(text)) return { role: 'note', ...origin, level: 'info', text }
  const files = toList(item['content'])
    .map(toObject)
    .flatMap((part): ImportedPart[] => {
      if (part['type'] !== 'input_image') return []
      const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(toText(part['image_url']) ?? '') ?? []
      const bytes = decodeBase64(data)
      if (bytes) return [{ type: 'file', bytes }]
      remark(origin.line, 'file_dropped', 'A file that is stored elsewhere or unreadable was left out.')
      return []
    })
  return { role: 'user', ...origin, parts: [{ type: 'text', text }, ...files] }
}

/** Reads an output: text, JSON text that contains it, or parts. */
function readOutput(output: unknown): Pick<CallResult, 'text' | 'outcome'> {
  const value = typeof output === 'string' ? parseJson(output) : output
  if (isObject(value)) {
    const isFailed = value['success'] === false || Number(toObject(value['metadata'])['exit_code'] ?? 0) !== 0
    const text = value['output'] ?? value['content']
    if (typeof text === 'string' && ('metadata' in value || 'success' in value))
      return { text, outcome: isFailed ? 'failed' : 'ok' }
    if (typeof output !== 'string')
      return { text: parseResult(text ?? output, () => undefined).text, outcome: isFailed ? 'failed' : 'ok' }
  }
  return { text: parseResult(output, () => undefined).text, outcome: 'ok' }
}
