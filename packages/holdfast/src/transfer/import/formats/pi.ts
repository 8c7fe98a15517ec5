import type { ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import { findLines, type TreeNode } from '../parse/message-tree.ts'
import * as read from '../parse/messages.ts'

/** pi: a header, then entries, which name their parent since version 2. */
export const lineFormat: LineFormat = {
  name: 'pi',
  owns: (value) =>
    (value['type'] === 'session' && typeof value['id'] === 'string' && 'cwd' in value) ||
    (value['type'] === 'message' &&
      !('session_id' in value) &&
      typeof json.object(value['message'])['role'] === 'string'),
  parse: createParser,
}

const ignoredTypes = new Set<unknown>(['thinking_level_change', 'custom', 'label'])

function createParser(remark: Remark): LineParser {
  let header: json.JsonObject = {}
  let model: string | undefined
  let title: string | undefined
  let updatedAt: number | undefined
  let signatures = 0
  const nodes: TreeNode<readonly ImportedMessage[]>[] = []
  const byId = new Map<string, readonly ImportedMessage[]>()

  const readEntry = (value: json.JsonObject, origin: Origin): readonly ImportedMessage[] => {
    switch (value['type']) {
      case 'message': {
        const message = json.object(value['message'])
        if (message['role'] === 'assistant') model = joinModelName(message['provider'], message['model']) ?? model
        signatures += json.objects(message['content']).filter((part) => part['thinkingSignature']).length
        return readMessage(message, { ...origin, at: origin.at ?? json.time(message['timestamp']) }, remark)
      }
      case 'compaction':
        return [read.checkpoint(origin, value['summary'], byId.get(String(value['firstKeptEntryId']))?.[0])]
      case 'branch_summary':
        return [read.note(origin, json.text(value['summary']) ?? '')]
      case 'custom_message':
        return [read.note(origin, read.textOf(value['content']))]
      case 'model_change':
        model = joinModelName(value['provider'], value['modelId']) ?? model
        return []
      case 'session_info':
        title = json.nonBlank(value['name']) ?? title
        return []
      default:
        if (!ignoredTypes.has(value['type'])) read.remarkUnknownRecord(remark, origin.line, 'An entry', value['type'])
        return []
    }
  }

  return {
    add(value, line) {
      if (value['type'] === 'session') {
        header = 'id' in header ? header : value
        return
      }
      const origin = { line, at: json.time(value['timestamp']) }
      const messages = readEntry(value, origin)
      if (messages.length > 0) updatedAt = origin.at ?? updatedAt
      const id = json.text(value['id'])
      if (id !== undefined) byId.set(id, messages)
      const isLeaf = messages.some(({ role }) => role !== 'note')
      nodes.push({ id, parent: json.text(value['parentId']), value: messages, isLeaf })
    },

    end() {
      read.remarkSignatures(remark, signatures)
      const { main, others } = findLines(nodes, remark)
      const { id, cwd, provider, modelId, timestamp } = header
      return {
        about: {
          id: json.nonBlank(id),
          title,
          workdir: json.nonBlank(cwd),
          model: model ?? joinModelName(provider, modelId),
          createdAt: json.time(timestamp) ?? undefined,
          updatedAt,
        },
        messages: main.flat(),
        branches: others.map((line) => ({ name: null, messages: line.flat() })),
      }
    },
  }
}

const joinModelName = (provider: unknown, model: unknown): string | undefined =>
  json.nonBlank(provider) === undefined || json.nonBlank(model) === undefined ? undefined : `${provider}/${model}`

function readMessage(message: json.JsonObject, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const { role, content, summary } = message
  const { line } = origin
  switch (role) {
    case 'user':
      return [{ role, ...origin, parts: read.userParts(content, line, remark) }]
    case 'assistant': {
      const failed = json.nonBlank(message['errorMessage'])
      const parts = read.answerParts(content, line, remark, ({ type, id, name, arguments: args }) =>
        type === 'toolCall' ? [read.call(id, name, json.args(args))] : null,
      )
      const answer = { role, ...origin, parts, usage: readUsage(message['usage']) } as const
      return failed === undefined ? [answer] : [answer, read.note(origin, failed, 'error')]
    }
    case 'toolResult':
      return [read.result(origin, message['toolCallId'], content, message['isError'], remark)]
    case 'bashExecution': {
      const text = `I ran this command:\n\n${json.text(message['command']) ?? ''}\n\n${json.text(message['output']) ?? ''}`
      return [{ role: 'user', ...origin, parts: [{ type: 'text', text }] }]
    }
    case 'compactionSummary':
      return [read.checkpoint(origin, summary)]
    case 'branchSummary':
    case 'custom':
      return [read.note(origin, json.text(summary) ?? read.textOf(content))]
    default:
      read.remarkUnknownRole(remark, line, role, 'was left out')
      return []
  }
}

function readUsage(value: unknown) {
  const { input, output, cacheRead, cacheWrite, cost } = json.object(value)
  return read.ifUsed({
    input: json.count(input),
    output: json.count(output),
    cacheRead: json.count(cacheRead),
    cacheWrite: json.count(cacheWrite),
    cost: json.cost(json.object(cost)['total']),
  })
}
