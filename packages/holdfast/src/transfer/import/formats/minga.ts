import { createHash } from 'node:crypto'
import type { Usage } from '@holdfast/protocol'
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
  const share = createMessageSharing()
  const pins = createPins(value)
  const memory = readMemory(value['memory'])
  const messages = [...memory, ...toMessages(value['messages'], share, remark, pins.has)]
  const unknown = pins.unknown()
  if (unknown > 0) remark(null, 'pin_dropped', `${unknown} pins of messages that cannot be pinned were left out.`)
  const branches = json.objects(value['branches']).map((branch) => ({
    name: json.nonBlank(branch['name']) ?? null,
    messages: [...memory, ...toMessages(branch['messages'], share, () => undefined, pins.has)],
  }))
  const saved = json.time(value['timestamp'])
  const last = json.time(value['last_message_at']) ?? saved ?? undefined
  // A file that was saved after its last message does not say when the session began.
  const createdAt = saved !== null && last !== undefined ? Math.min(saved, last) : last
  const [id, title, model] = [value['id'], value['title'], value['model_name']].map(json.nonBlank)
  const total = readUsage(json.object(value['usage']))
  const usage = total.input + total.output > 0 ? total : undefined // zeros are written for an unknown usage
  return { about: { id, title, model, createdAt, updatedAt: last, usage }, messages, branches }
}

function readUsage({ input, output, cache_read, cache_write, cost }: json.JsonObject): Usage {
  const [cacheRead, cacheWrite] = [json.count(cache_read), json.count(cache_write)]
  return { input: json.count(input), output: json.count(output), cacheRead, cacheWrite, cost: json.cost(cost) }
}

type IsPinned = (index: number, entry: json.JsonObject) => boolean

/** Finds the pinned entries. Their ids belong to the current line; a branch shares the entries that are equal. */
function createPins(value: json.JsonObject): { readonly has: IsPinned; readonly unknown: () => number } {
  const ids = json.list(value['message_ids'])
  const entries = json.list(value['messages'])
  const pinned = new Set(json.list(value['pinned_ids']))
  const found = new Set<unknown>()
  return {
    has(index, entry) {
      const id = ids[index]
      if (!pinned.has(id) || JSON.stringify(entries[index]) !== JSON.stringify(entry)) return false
      found.add(id)
      return true
    },
    unknown: () => pinned.size - found.size,
  }
}

/** Returns the memory of the session as a note for people. A model gets today's memory. */
function readMemory(memory: unknown): readonly ImportedMessage[] {
  const text = json.nonBlank(memory)
  return text === undefined ? [] : [read.note({ line: 0, at: null }, `Memory when the session was saved:\n\n${text}`)]
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

function toMessages(
  entries: unknown,
  share: ShareMessage,
  remark: Remark,
  isPinned: IsPinned,
): readonly ImportedMessage[] {
  const messages: ImportedMessage[] = []
  let parts: AnswerPart[] = []
  let results: ImportedMessage[] = []
  let hasCall = false
  let startedAt: Origin | null = null
  const push = (message: ImportedMessage) => messages.push(share(messages.length, message))
  const pin: (...entry: Parameters<IsPinned>) => { readonly isPinned?: true } = (...entry) =>
    isPinned(...entry) ? { isPinned: true } : {}
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
        parts.push({ type: value['type'] === 'assistant' ? 'text' : 'thinking', text, ...pin(index, value) })
        continue
      case 'tool_call': {
        startedAt ??= origin
        const { name, args, status, is_error, result, duration_ms } = value
        hasCall = true
        parts.push({ ...read.call(index, name, args ?? {}), ...pin(index, value) })
        if (status === 'running') continue
        const isFailed = is_error === true || status === 'error'
        const durationMs = typeof duration_ms === 'number' ? json.count(duration_ms) : undefined
        results.push({ ...read.result(origin, index, json.text(result), isFailed, remark), durationMs })
        continue
      }
      case 'user':
        if (text === undefined) break
        add({ role: 'user', ...origin, parts: [{ type: 'text', text }], ...pin(index, value) })
        if (json.list(value['attachments']).length > 0)
          remark(origin.line, 'file_dropped', 'Files of a prompt are not in the export and were left out.')
        continue
      case 'system':
        add(read.note(origin, text ?? '', value['level'] === 'error' ? 'error' : 'info'))
        continue
      case 'usage':
        add({ role: 'usage', ...origin, usage: readUsage(json.object(value['data'])) })
        continue
      default:
        read.remarkUnknownRecord(remark, origin.line, 'An entry', value['type'])
        continue
    }
    remark(origin.line, 'unusable_message', 'An entry without its text was left out.')
  }
  endAnswer()
  return messages
}
