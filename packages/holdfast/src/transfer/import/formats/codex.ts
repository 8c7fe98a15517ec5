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
  const items = createItems(remark)
  let head: json.JsonObject = {}
  let context: json.JsonObject = {}
  let updatedAt: number | undefined
  return {
    add(value, line) {
      const origin = { line, at: json.time(value['timestamp']) }
      updatedAt = origin.at ?? updatedAt
      const payload = json.object(value['payload'])
      if (value['type'] === 'session_meta') head = 'id' in head ? head : payload
      else if (value['type'] === 'turn_context')
        context = { model: payload['model'] ?? context['model'], cwd: payload['cwd'] ?? context['cwd'] }
      else if (value['type'] === 'response_item') items.add(payload, origin)
      else if (value['type'] === 'event_msg') items.addCount(payload, origin)
      else if (value['type'] === 'compacted') items.addMessage(read.checkpoint(origin, payload['message']))
      else if (!('type' in value) && 'instructions' in value) head = 'id' in head ? head : value
      else items.add(value, origin)
    },
    end() {
      const messages = items.end()
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

/** Collects model items as messages; joins the items of one answer. */
function createItems(remark: Remark) {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let hasCall = false
  let startedAt: Origin | null = null
  let encrypted = 0
  let lastTotal = ''

  const endAnswer = () => {
    if (startedAt) messages.push({ role: 'assistant', ...startedAt, parts })
    parts = []
    hasCall = false
    startedAt = null
  }
  const addPart = (origin: Origin, part: AnswerPart) => {
    startedAt ??= origin
    hasCall ||= part.type === 'call'
    parts.push(part)
  }
  const addMessage = (message: ImportedMessage) => {
    endAnswer()
    messages.push(message)
  }
  const addReasoning = (item: json.JsonObject, origin: Origin) => {
    if (item['encrypted_content']) encrypted++
    const text = joinTexts(item['summary']) || joinTexts(item['content'])
    if (text === '') return
    if (hasCall) endAnswer()
    addPart(origin, { type: 'thinking', text })
  }

  return {
    add(item: json.JsonObject, origin: Origin) {
      if (item['type'] === 'reasoning') return addReasoning(item, origin)
      const call = readCall(item)
      if (call !== null) return addPart(origin, call)
      if (outputTypes.test(String(item['type']))) return addMessage(readResult(item, origin))
      if (item['type'] !== 'message') return remarkUnknownItem(remark, item, origin)
      if (item['role'] === 'assistant') addPart(origin, { type: 'text', text: joinTexts(item['content']) })
      else addMessage(readUserMessage(item, origin, remark))
    },
    addMessage,
    addCount(payload: json.JsonObject, origin: Origin) {
      const { total_token_usage = null, last_token_usage } = json.object(payload['info'])
      const total = JSON.stringify(total_token_usage)
      if (payload['type'] !== 'token_count' || total === lastTotal) return
      lastTotal = total
      const usage = readUsage(json.object(last_token_usage))
      if (usage) messages.push({ role: 'usage', ...origin, usage })
    },
    end(): ImportedMessage[] {
      endAnswer()
      read.remarkSignatures(remark, encrypted, 'encrypted pieces')
      return messages
    },
  }
}

const outputTypes = /^(function_call|custom_tool_call|local_shell_call)_output$/

function readCall(item: json.JsonObject): AnswerPart | null {
  switch (item['type']) {
    case 'function_call':
      return read.call(item['call_id'], item['name'], json.args(item['arguments']))
    case 'custom_tool_call':
      return read.call(item['call_id'], item['name'], { input: item['input'] })
    case 'local_shell_call':
      return read.call(item['call_id'] ?? item['id'], 'shell', json.object(item['action']))
    default:
      return null
  }
}

const readResult = (item: json.JsonObject, origin: Origin): ImportedMessage => ({
  role: 'result',
  ...origin,
  callId: String(item['call_id'] ?? ''),
  ...readOutput(item['output']),
})

function remarkUnknownItem(remark: Remark, item: json.JsonObject, { line }: Origin): void {
  const isIgnored = item['type'] === 'ghost_snapshot' || item['type'] === 'web_search_call'
  if (!isIgnored && item['record_type'] !== 'state') read.remarkUnknownRecord(remark, line, 'An item', item['type'])
}

function readUsage({ input_tokens, output_tokens, cached_input_tokens }: json.JsonObject) {
  const cacheRead = json.count(cached_input_tokens)
  const input = Math.max(0, json.count(input_tokens) - cacheRead)
  return read.ifUsed({ input, output: json.count(output_tokens), cacheRead, cacheWrite: 0, cost: null })
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
