import { limits, type Usage } from '@holdfast/protocol'
import type { AnswerPart, ImportedMessage, ImportedPart, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  createCall,
  decodeBase64,
  hasTokens,
  type JsonObject,
  parseArguments,
  parseResult,
  parseTime,
  remarkUnknownPart,
  remarkUnknownRecord,
  toCount,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'
import { findLines, type TreeNode } from '../parse/message-tree.ts'

/** pi: a header, then entries, which name their parent since version 2. */
export const lineFormat: LineFormat = {
  name: 'pi',
  owns: (value) =>
    (value['type'] === 'session' && typeof value['id'] === 'string' && 'cwd' in value) ||
    (value['type'] === 'message' && !('session_id' in value) && typeof toObject(value['message'])['role'] === 'string'),
  parse: createParser,
}

const ignoredTypes = new Set(['thinking_level_change', 'custom', 'label'])

function createParser(remark: Remark): LineParser {
  let header: JsonObject = {}
  let model: string | undefined
  let title: string | undefined
  let updatedAt: number | undefined
  let signatures = 0
  const nodes: TreeNode<readonly ImportedMessage[]>[] = []
  const byId = new Map<string, readonly ImportedMessage[]>()

  const read = (value: JsonObject, origin: Origin): readonly ImportedMessage[] | null => {
    switch (value['type']) {
      case 'message': {
        const message = toObject(value['message'])
        if (message['role'] === 'assistant') model = joinModelName(message['provider'], message['model']) ?? model
        signatures += toList(message['content']).filter((part) => toObject(part)['thinkingSignature']).length
        return readMessage(message, { ...origin, at: origin.at ?? parseTime(message['timestamp']) }, remark)
      }
      case 'compaction': {
        const kept = byId.get(String(value['firstKeptEntryId']))?.[0] ?? null
        return [{ role: 'checkpoint', ...origin, summary: toText(value['summary']) ?? '', keepFrom: kept }]
      }
      case 'branch_summary':
        return [{ role: 'note', ...origin, level: 'info', text: toText(value['summary']) ?? '' }]
      case 'custom_message':
        return [{ role: 'note', ...origin, level: 'info', text: parseResult(value['content'], () => undefined).text }]
      case 'model_change':
        model = joinModelName(value['provider'], value['modelId']) ?? model
        return []
      case 'session_info':
        title = toNonBlankText(value['name']) ?? title
        return []
      default:
        if (!ignoredTypes.has(String(value['type'])))
          remarkUnknownRecord(remark, origin.line, 'An entry', value['type'])
        return []
    }
  }

  return {
    add(value, line) {
      if (value['type'] === 'session') {
        header = 'id' in header ? header : value
        return
      }
      const origin = { line, at: parseTime(value['timestamp']) }
      const messages = read(value, origin) ?? []
      if (messages.length > 0) updatedAt = origin.at ?? updatedAt
      const id = toText(value['id'])
      if (id !== undefined) byId.set(id, messages)
      const isLeaf = messages.some(({ role }) => role !== 'note')
      nodes.push({ id, parent: toText(value['parentId']) ?? null, value: messages, isLeaf })
    },

    end() {
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const { main, others, left } = findLines(nodes, limits.branchesMax)
      if (left > 0) remark(null, 'branch_dropped', `${left} more lines than a session can keep were left out.`)
      return {
        about: {
          id: toNonBlankText(header['id']),
          title,
          workdir: toNonBlankText(header['cwd']),
          model: model ?? joinModelName(header['provider'], header['modelId']),
          createdAt: parseTime(header['timestamp']) ?? undefined,
          updatedAt,
        },
        messages: main.flat(),
        branches: others.map((line) => ({ name: null, messages: line.flat() })),
      }
    },
  }
}

const joinModelName = (provider: unknown, model: unknown): string | undefined =>
  toNonBlankText(provider) === undefined || toNonBlankText(model) === undefined ? undefined : `${provider}/${model}`

function readMessage(message: JsonObject, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const { role, content } = message
  switch (role) {
    case 'user':
      return [{ role, ...origin, parts: readUserParts(content, origin, remark) }]
    case 'assistant': {
      const failed = toNonBlankText(message['errorMessage'])
      const answer: ImportedMessage = {
        role,
        ...origin,
        parts: readAnswerParts(content, origin, remark),
        usage: parsePiUsage(message['usage']),
      }
      return failed === undefined ? [answer] : [answer, { role: 'note', ...origin, level: 'error', text: failed }]
    }
    case 'toolResult': {
      const left = (what: string) => remark(origin.line, 'file_dropped', `A part of a result (${what}) was left out.`)
      const outcome = message['isError'] === true ? 'failed' : 'ok'
      return [
        {
          role: 'result',
          ...origin,
          callId: String(message['toolCallId'] ?? ''),
          ...parseResult(content, left),
          outcome,
        },
      ]
    }
    case 'bashExecution': {
      const text = `I ran this command:\n\n${toText(message['command']) ?? ''}\n\n${toText(message['output']) ?? ''}`
      return [{ role: 'user', ...origin, parts: [{ type: 'text', text }] }]
    }
    case 'compactionSummary':
      return [{ role: 'checkpoint', ...origin, summary: toText(message['summary']) ?? '', keepFrom: null }]
    case 'branchSummary':
    case 'custom':
      return [
        {
          role: 'note',
          ...origin,
          level: 'info',
          text: toText(message['summary']) ?? parseResult(content, () => undefined).text,
        },
      ]
    default:
      remark(origin.line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} was left out.`)
      return []
  }
}

function readUserParts(content: unknown, { line }: Origin, remark: Remark): readonly ImportedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return toList(content)
    .map(toObject)
    .flatMap((part): ImportedPart[] => {
      if (part['type'] === 'text') return [{ type: 'text', text: toText(part['text']) ?? '' }]
      const bytes = decodeBase64(part['data'])
      if (bytes) return [{ type: 'file', bytes }]
      remarkUnknownPart(remark, line, part['type'])
      return []
    })
}

function readAnswerParts(content: unknown, { line }: Origin, remark: Remark): readonly AnswerPart[] {
  return toList(content)
    .map(toObject)
    .flatMap((part): AnswerPart[] => {
      if (part['type'] === 'text') return [{ type: 'text', text: toText(part['text']) ?? '' }]
      if (part['type'] === 'thinking') return [{ type: 'thinking', text: toText(part['thinking']) ?? '' }]
      if (part['type'] === 'toolCall') return [createCall(part['id'], part['name'], parseArguments(part['arguments']))]
      remarkUnknownPart(remark, line, part['type'])
      return []
    })
}

function parsePiUsage(value: unknown): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, cost } = toObject(value)
  const { total } = toObject(cost)
  const usage = {
    ...{
      input: toCount(input),
      output: toCount(output),
      cacheRead: toCount(cacheRead),
      cacheWrite: toCount(cacheWrite),
    },
    cost: typeof total === 'number' && total >= 0 ? total : null,
  }
  return hasTokens(usage) ? usage : undefined
}
