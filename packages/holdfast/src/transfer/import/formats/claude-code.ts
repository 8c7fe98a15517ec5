import { limits } from '@holdfast/protocol'
import type {
  AnswerPart,
  ImportedAnswer,
  ImportedMessage,
  ImportedPart,
  Origin,
  Remark,
} from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import {
  createCall,
  decodeBase64,
  type JsonObject,
  parseResult,
  parseTime,
  parseUsage,
  remarkUnknownPart,
  remarkUnknownRecord,
  toList,
  toNonBlankText,
  toObject,
  toText,
} from '../parse/json-fields.ts'
import { findLines, type TreeNode } from '../parse/message-tree.ts'

const ignoredTypes = new Set([
  'file-history-snapshot',
  'queue-operation',
  'progress',
  'attachment',
  'last-prompt',
  'agent-name',
  'pr-link',
])

/** Claude Code: one part of a message per line. Each line names its parent, so a file holds a tree. */
export const lineFormat: LineFormat = {
  name: 'claude-code',
  owns: (value) =>
    (typeof value['sessionId'] === 'string' && typeof value['type'] === 'string') ||
    (value['type'] === 'summary' && 'leafUuid' in value) ||
    (value['type'] === 'file-history-snapshot' && 'messageId' in value),
  parse: createParser,
}

/** The content of a line; lines with the same `answer` are parts of one answer. */
type Piece = { readonly answer: string | null; readonly messages: readonly ImportedMessage[] }

function createParser(remark: Remark): LineParser {
  const nodes: TreeNode<Piece>[] = []
  let id: string | undefined
  let title: string | undefined
  let workdir: string | undefined
  let model: string | undefined
  let createdAt: number | undefined
  let sideChainLines = 0
  let signatures = 0

  const add = (value: JsonObject, piece: Piece) => {
    const isLeaf = piece.messages.some(({ role }) => role !== 'result' && role !== 'note')
    const parent = toText(value['parentUuid']) ?? toText(value['logicalParentUuid']) ?? null
    nodes.push({ id: toText(value['uuid']), parent, value: piece, isLeaf })
  }

  return {
    add(value, line) {
      const { type } = value
      if (type === 'summary') title ??= toNonBlankText(value['summary'])
      else if (type === 'custom-title' || type === 'ai-title')
        title = toNonBlankText(value['customTitle'] ?? value['aiTitle']) ?? title
      else if (value['isSidechain'] === true) sideChainLines++
      else if (type === 'user' || type === 'assistant' || type === 'system') {
        id ??= toNonBlankText(value['sessionId'])
        workdir ??= toNonBlankText(value['cwd'])
        const at = parseTime(value['timestamp'])
        createdAt ??= at ?? undefined
        const origin = { line, at }
        const message = toObject(value['message'])
        if (type === 'assistant') {
          model = toNonBlankText(message['model'])?.replace(/^<.*/, '') || model
          signatures += toList(message['content']).filter((part) => toObject(part)['signature']).length
          add(value, { answer: toText(message['id']) ?? null, messages: [readAnswer(message, origin, remark)] })
        } else if (type === 'user')
          add(value, { answer: null, messages: readUserMessage(value, message, origin, remark) })
        else {
          const text = toNonBlankText(value['content'])
          // A compaction boundary; its summary is on the next line.
          const messages: ImportedMessage[] =
            text === undefined || value['subtype'] === 'compact_boundary'
              ? []
              : [{ role: 'note', ...origin, level: 'info', text }]
          add(value, { answer: null, messages })
        }
      } else if (!ignoredTypes.has(String(type))) remarkUnknownRecord(remark, line, 'A line', type)
    },

    end() {
      if (sideChainLines > 0) remark(null, 'side_chain', `${sideChainLines} lines of subagents were left out.`)
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const join = createAnswerJoiner()
      const { main, others, left } = findLines(nodes, limits.branchesMax)
      if (left > 0) remark(null, 'branch_dropped', `${left} more lines than a session can keep were left out.`)
      const all = nodes.map(({ value }) => value)
      return {
        about: { id, title, workdir, model: model === undefined ? undefined : `anthropic/${model}`, createdAt },
        messages: join(withResults(main, all)),
        branches: others.map((line) => ({ name: null, messages: join(withResults(line, all)) })),
      }
    },
  }
}

/** Adds the results of parallel calls, which are not on the line itself. */
function withResults(line: readonly Piece[], all: readonly Piece[]): readonly Piece[] {
  const onLine = new Set(line)
  const called = new Set(
    line.flatMap(({ messages }) =>
      messages.flatMap((one) =>
        one.role === 'assistant' ? one.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : [],
      ),
    ),
  )
  const answered = new Set(
    line.flatMap(({ messages }) => messages.flatMap((one) => (one.role === 'result' ? [one.callId] : []))),
  )
  const isMissing = ({ messages }: Piece) =>
    messages.length > 0 &&
    messages.every((one) => one.role === 'result' && called.has(one.callId) && !answered.has(one.callId))
  if (called.size === answered.size) return line
  return all.filter((piece) => onLine.has(piece) || isMissing(piece))
}

/** Joins the parts of each answer. The same parts give the same object on every line. */
function createAnswerJoiner(): (line: readonly Piece[]) => readonly ImportedMessage[] {
  const known = new Map<string, ImportedAnswer>()
  const joined = (name: string, answers: readonly ImportedAnswer[]): ImportedAnswer => {
    const [first] = answers
    const before = known.get(name)
    if (before || !first) return before ?? { role: 'assistant', line: 0, at: null, parts: [] }
    const answer =
      answers.length === 1
        ? first
        : { ...first, parts: answers.flatMap(({ parts }) => parts), usage: answers.at(-1)?.usage }
    known.set(name, answer)
    return answer
  }
  return (line) => {
    const messages: ImportedMessage[] = []
    let waiting: {
      readonly answer: string | null
      readonly parts: ImportedAnswer[]
      readonly results: ImportedMessage[]
    } | null = null
    const endAnswer = () => {
      if (!waiting) return
      messages.push(joined(waiting.parts.map((part) => part.line).join(), waiting.parts), ...waiting.results)
      waiting = null
    }
    for (const { answer, messages: some } of line) {
      for (const one of some) {
        if (one.role === 'assistant') {
          if (waiting && (answer === null || waiting.answer !== answer)) endAnswer()
          waiting ??= { answer, parts: [], results: [] }
          waiting.parts.push(one)
        } else if (one.role === 'result' && waiting) waiting.results.push(one)
        else {
          endAnswer()
          messages.push(one)
        }
      }
    }
    endAnswer()
    return messages
  }
}

function readAnswer(message: JsonObject, origin: Origin, remark: Remark): ImportedAnswer {
  const content = message['content']
  if (typeof content === 'string') return { role: 'assistant', ...origin, parts: [{ type: 'text', text: content }] }
  const parts = toList(content)
    .map(toObject)
    .flatMap((block): AnswerPart[] => {
      switch (block['type']) {
        case 'text':
          return [{ type: 'text', text: toText(block['text']) ?? '' }]
        case 'thinking':
          return [{ type: 'thinking', text: toText(block['thinking']) ?? '' }]
        case 'redacted_thinking':
          return []
        case 'tool_use':
        case 'server_tool_use':
          return [createCall(block['id'], block['name'], block['input'] ?? {})]
        default:
          remarkUnknownPart(remark, origin.line, block['type'])
          return []
      }
    })
  return { role: 'assistant', ...origin, parts, usage: parseUsage(message['usage']) }
}

function readUserMessage(
  value: JsonObject,
  message: JsonObject,
  origin: Origin,
  remark: Remark,
): readonly ImportedMessage[] {
  const content = message['content']
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : toList(content).map(toObject)
  const results: ImportedMessage[] = []
  const parts: ImportedPart[] = []
  for (const block of blocks as readonly JsonObject[]) {
    if (block['type'] === 'tool_result') {
      const left = (what: string) => remark(origin.line, 'file_dropped', `A part of a result (${what}) was left out.`)
      const outcome = block['is_error'] === true ? 'failed' : 'ok'
      results.push({
        role: 'result',
        ...origin,
        callId: String(block['tool_use_id'] ?? ''),
        ...parseResult(block['content'], left),
        outcome,
      })
    } else if (block['type'] === 'text') parts.push({ type: 'text', text: toText(block['text']) ?? '' })
    else {
      const bytes = decodeBase64(toObject(block['source'])['data'])
      if (bytes) parts.push({ type: 'file', bytes })
      else remarkUnknownPart(remark, origin.line, block['type'])
    }
  }
  if (parts.length === 0) return results
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  if (value['isCompactSummary'] === true)
    return [...results, { role: 'checkpoint', ...origin, summary: text, keepFrom: null }]
  if (value['isMeta'] === true) return [...results, { role: 'note', ...origin, level: 'info', text }]
  return [...results, { role: 'user', ...origin, parts }]
}
