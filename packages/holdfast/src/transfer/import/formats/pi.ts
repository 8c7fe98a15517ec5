import { limits, type Usage } from '@holdfast/protocol'
import type { AnswerPart, ImportedMessage, ImportedPart, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  argumentsOf,
  bytesOf,
  countOf,
  isUsed,
  type Loose,
  listOf,
  objectOf,
  resultOf,
  textOf,
  timeOf,
  wordsOf,
} from '../parse/loose.ts'
import { linesOf, type Node } from '../parse/tree.ts'

/** pi: a header, then entries that in its newer form name the one before them. */
export const pi: LineFormat = {
  name: 'pi',
  owns: (value) =>
    (value['type'] === 'session' && typeof value['id'] === 'string' && 'cwd' in value) ||
    (value['type'] === 'message' && !('session_id' in value) && typeof objectOf(value['message'])['role'] === 'string'),
  parse: createParser,
}

const silent = new Set(['thinking_level_change', 'custom', 'label'])

function createParser(remark: Remark): LineParser {
  let header: Loose = {}
  let model: string | undefined
  let title: string | undefined
  let updatedAt: number | undefined
  let signatures = 0
  const nodes: Node<readonly ImportedMessage[]>[] = []
  const byId = new Map<string, readonly ImportedMessage[]>()

  const read = (value: Loose, origin: Origin): readonly ImportedMessage[] | null => {
    switch (value['type']) {
      case 'message': {
        const message = objectOf(value['message'])
        if (message['role'] === 'assistant') model = named(message['provider'], message['model']) ?? model
        signatures += listOf(message['content']).filter((part) => objectOf(part)['thinkingSignature']).length
        return readMessage(message, { ...origin, at: origin.at ?? timeOf(message['timestamp']) }, remark)
      }
      case 'compaction': {
        const kept = byId.get(String(value['firstKeptEntryId']))?.[0] ?? null
        return [{ role: 'checkpoint', ...origin, summary: textOf(value['summary']) ?? '', keepFrom: kept }]
      }
      case 'branch_summary':
        return [{ role: 'note', ...origin, level: 'info', text: textOf(value['summary']) ?? '' }]
      case 'custom_message':
        return [{ role: 'note', ...origin, level: 'info', text: resultOf(value['content'], () => undefined).text }]
      case 'model_change':
        model = named(value['provider'], value['modelId']) ?? model
        return []
      case 'session_info':
        title = wordsOf(value['name']) ?? title
        return []
      default:
        if (!silent.has(String(value['type'])))
          remark(
            origin.line,
            'unknown_record',
            `An entry of the unknown type ${JSON.stringify(value['type'])} was left out.`,
          )
        return []
    }
  }

  return {
    add(value, line) {
      if (value['type'] === 'session') {
        header = 'id' in header ? header : value
        return
      }
      const origin = { line, at: timeOf(value['timestamp']) }
      const messages = read(value, origin) ?? []
      if (messages.length > 0) updatedAt = origin.at ?? updatedAt
      const id = textOf(value['id'])
      if (id !== undefined) byId.set(id, messages)
      const isLeaf = messages.some(({ role }) => role !== 'note')
      nodes.push({ id, parent: textOf(value['parentId']) ?? null, value: messages, isLeaf })
    },

    end() {
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const { main, others, left } = linesOf(nodes, limits.branchesMax)
      if (left > 0) remark(null, 'branch_dropped', `${left} more lines than a session can keep were left out.`)
      return {
        about: {
          id: wordsOf(header['id']),
          title,
          workdir: wordsOf(header['cwd']),
          model: model ?? named(header['provider'], header['modelId']),
          createdAt: timeOf(header['timestamp']) ?? undefined,
          updatedAt,
        },
        messages: main.flat(),
        branches: others.map((line) => ({ name: null, messages: line.flat() })),
      }
    },
  }
}

const named = (provider: unknown, model: unknown): string | undefined =>
  wordsOf(provider) === undefined || wordsOf(model) === undefined ? undefined : `${provider}/${model}`

function readMessage(message: Loose, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const { role, content } = message
  switch (role) {
    case 'user':
      return [{ role, ...origin, parts: userParts(content, origin, remark) }]
    case 'assistant': {
      const failed = wordsOf(message['errorMessage'])
      const answer: ImportedMessage = {
        role,
        ...origin,
        parts: answerParts(content, origin, remark),
        usage: usageOf(message['usage']),
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
          ...resultOf(content, left),
          outcome,
        },
      ]
    }
    case 'bashExecution': {
      const text = `I ran this command:\n\n${textOf(message['command']) ?? ''}\n\n${textOf(message['output']) ?? ''}`
      return [{ role: 'user', ...origin, parts: [{ type: 'text', text }] }]
    }
    case 'compactionSummary':
      return [{ role: 'checkpoint', ...origin, summary: textOf(message['summary']) ?? '', keepFrom: null }]
    case 'branchSummary':
    case 'custom':
      return [
        {
          role: 'note',
          ...origin,
          level: 'info',
          text: textOf(message['summary']) ?? resultOf(content, () => undefined).text,
        },
      ]
    default:
      remark(origin.line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} was left out.`)
      return []
  }
}

function userParts(content: unknown, { line }: Origin, remark: Remark): readonly ImportedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content)
    .map(objectOf)
    .flatMap((part): ImportedPart[] => {
      if (part['type'] === 'text') return [{ type: 'text', text: textOf(part['text']) ?? '' }]
      const bytes = bytesOf(part['data'])
      if (bytes) return [{ type: 'file', bytes }]
      remark(line, 'unknown_part', `A part of the unknown type ${JSON.stringify(part['type'])} was left out.`)
      return []
    })
}

function answerParts(content: unknown, { line }: Origin, remark: Remark): readonly AnswerPart[] {
  return listOf(content)
    .map(objectOf)
    .flatMap((part): AnswerPart[] => {
      if (part['type'] === 'text') return [{ type: 'text', text: textOf(part['text']) ?? '' }]
      if (part['type'] === 'thinking') return [{ type: 'thinking', text: textOf(part['thinking']) ?? '' }]
      if (part['type'] === 'toolCall')
        return [
          {
            type: 'call',
            id: String(part['id'] ?? ''),
            tool: textOf(part['name']) ?? '',
            args: argumentsOf(part['arguments']),
          },
        ]
      remark(line, 'unknown_part', `A part of the unknown type ${JSON.stringify(part['type'])} was left out.`)
      return []
    })
}

function usageOf(value: unknown): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, cost } = objectOf(value)
  const { total } = objectOf(cost)
  const usage = {
    ...{
      input: countOf(input),
      output: countOf(output),
      cacheRead: countOf(cacheRead),
      cacheWrite: countOf(cacheWrite),
    },
    cost: typeof total === 'number' && total >= 0 ? total : null,
  }
  return isUsed(usage) ? usage : undefined
}
