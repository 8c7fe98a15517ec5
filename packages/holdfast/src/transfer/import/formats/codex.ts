import type { AnswerPart, CallResult, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import * as read from '../parse/messages.ts'

const envelopes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'])
const itemTypes = /^(message|reasoning|local_shell_call|(function|custom_tool)_call(_output)?)$/
/** Matches text that Codex itself adds as user messages. */
const contextMark =
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions|collaboration_mode|skill)\b|# AGENTS\.md instructions)/

/** Codex: one model item per line, in an envelope since its second version. */
export const lineFormat: LineFormat = {
  name: 'codex',
  owns: (value) =>
    (envelopes.has(String(value['type'])) && json.isObject(value['payload'])) ||
    value['record_type'] === 'state' ||
    (itemTypes.test(String(value['type'])) && !['session_id', 'message', 'sessionId'].some((name) => name in value)) ||
    (typeof value['id'] === 'string' && 'timestamp' in value && 'instructions' in value),
  parse: createParser,
}

function createParser(remark: Remark): LineParser {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let startedAt: Origin | null = null
  let head: json.JsonObject = {}
  let context: json.JsonObject = {}
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

  const addItem = (item: json.JsonObject, origin: Origin) => {
    switch (item['type']) {
      case 'message':
        if (item['role'] === 'assistant') answer(origin, { type: 'text', text: joinTexts(item['content']) })
        else add(readUserMessage(item, origin, remark))
        return
      case 'reasoning': {
        if (item['encrypted_content']) encrypted++
        const text = joinTexts(item['summary']) || joinTexts(item['content'])
        if (text === '') return
        if (parts.some(({ type }) => type === 'call')) endAnswer()
        return answer(origin, { type: 'thinking', text })
      }
      case 'function_call':
        return answer(origin, read.call(item['call_id'], item['name'], json.args(item['arguments'])))
      case 'custom_tool_call':
        return answer(origin, read.call(item['call_id'], item['name'], { input: item['input'] }))
      case 'local_shell_call':
        return answer(origin, read.call(item['call_id'] ?? item['id'], 'shell', json.object(item['action'])))
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        return add({ role: 'result', ...origin, callId: String(item['call_id'] ?? ''), ...readOutput(item['output']) })
      case 'ghost_snapshot':
      case 'web_search_call':
        return
      default:
        if (item['record_type'] !== 'state') read.remarkUnknownRecord(remark, origin.line, 'An item', item['type'])
    }
  }

  const addCount = (payload: json.JsonObject, origin: Origin) => {
    const { total_token_usage = null, last_token_usage } = json.object(payload['info'])
    const total = JSON.stringify(total_token_usage)
    if (payload['type'] !== 'token_count' || total === lastTotal) return
    lastTotal = total
    const { input_tokens, output_tokens, cached_input_tokens } = json.object(last_token_usage)
    const cacheRead = json.count(cached_input_tokens)
    const input = Math.max(0, json.count(input_tokens) - cacheRead)
    const usage = read.ifUsed({ input, output: json.count(output_tokens), cacheRead, cacheWrite: 0, cost: null })
    if (usage) messages.push({ role: 'usage', ...origin, usage })
  }

  return {
    add(value, line) {
      const origin = { line, at: json.time(value['timestamp']) }
      updatedAt = origin.at ?? updatedAt
      const payload = json.object(value['payload'])
      if (value['type'] === 'session_meta') head = 'id' in head ? head : payload
      else if (value['type'] === 'turn_context') context = { ...context, ...payload }
      else if (value['type'] === 'response_item') addItem(payload, origin)
      else if (value['type'] === 'event_msg') addCount(payload, origin)
      else if (value['type'] === 'compacted') add(read.checkpoint(origin, payload['message']))
      else if (!('type' in value) && 'instructions' in value) head = 'id' in head ? head : value
      else addItem(value, origin)
    },
    end() {
      endAnswer()
      read.remarkSignatures(remark, encrypted, 'encrypted pieces')
      const model = json.nonBlank(context['model']) ?? json.nonBlank(head['model'])
      return {
        about: {
          id: json.nonBlank(head['id']),
          workdir: json.nonBlank(head['cwd']) ?? json.nonBlank(context['cwd']),
          model: model === undefined ? undefined : `${json.nonBlank(head['model_provider']) ?? 'openai'}/${model}`,
          createdAt: json.time(head['timestamp']) ?? undefined,
          updatedAt,
        },
        messages,
        branches: [],
      }
    },
  }
}

function joinTexts(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = json.objects(content).map(({ text }) => json.text(text) ?? '')
  return texts.filter((text) => text !== '').join('\n\n')
}

function readUserMessage({ role, content }: json.JsonObject, origin: Origin, remark: Remark): ImportedMessage {
  const text = joinTexts(content)
  if (role !== 'user' || contextMark.test(text)) return read.note(origin, text)
  const images = json.objects(content).filter(({ type }) => type === 'input_image')
  const files = images.flatMap(({ image_url }) => read.fileOfUrl(image_url, origin.line, remark))
  return { role, ...origin, parts: [{ type: 'text', text }, ...files] }
}

/** Reads an output: text, JSON text that contains it, or parts. */
function readOutput(output: unknown): Pick<CallResult, 'text' | 'outcome'> {
  const value = typeof output === 'string' ? json.parse(output) : output
  if (!json.isObject(value)) return { text: read.textOf(output), outcome: 'ok' }
  const isFailed = value['success'] === false || Number(json.object(value['metadata'])['exit_code'] ?? 0) !== 0
  const outcome = isFailed ? 'failed' : 'ok'
  const text = value['output'] ?? value['content']
  if (typeof text === 'string' && ('metadata' in value || 'success' in value)) return { text, outcome }
  if (typeof output === 'string') return { text: output, outcome: 'ok' }
  return { text: read.textOf(text ?? output), outcome }
}
