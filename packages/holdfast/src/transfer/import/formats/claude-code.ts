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
import { bytesOf, type Loose, listOf, objectOf, resultOf, textOf, timeOf, usageOf, wordsOf } from '../parse/loose.ts'
import { linesOf, type Node } from '../parse/tree.ts'

const silent = new Set([
  'file-history-snapshot',
  'queue-operation',
  'progress',
  'attachment',
  'last-prompt',
  'agent-name',
  'pr-link',
])

/** Claude Code: one part of a message a line, each naming the line before it, so that a file holds a tree. */
export const claudeCode: LineFormat = {
  name: 'claude-code',
  owns: (value) =>
    (typeof value['sessionId'] === 'string' && typeof value['type'] === 'string') ||
    (value['type'] === 'summary' && 'leafUuid' in value) ||
    (value['type'] === 'file-history-snapshot' && 'messageId' in value),
  parse: createParser,
}

/** What a line brings; lines with the same `answer` are parts of one. */
type Piece = { readonly answer: string | null; readonly messages: readonly ImportedMessage[] }

function createParser(remark: Remark): LineParser {
  const nodes: Node<Piece>[] = []
  let id: string | undefined
  let title: string | undefined
  let workdir: string | undefined
  let model: string | undefined
  let createdAt: number | undefined
  let beside = 0
  let signatures = 0

  const add = (value: Loose, piece: Piece) => {
    const isLeaf = piece.messages.some(({ role }) => role !== 'result' && role !== 'note')
    const parent = textOf(value['parentUuid']) ?? textOf(value['logicalParentUuid']) ?? null
    nodes.push({ id: textOf(value['uuid']), parent, value: piece, isLeaf })
  }

  return {
    add(value, line) {
      const { type } = value
      if (type === 'summary') title ??= wordsOf(value['summary'])
      else if (type === 'custom-title' || type === 'ai-title')
        title = wordsOf(value['customTitle'] ?? value['aiTitle']) ?? title
      else if (value['isSidechain'] === true) beside++
      else if (type === 'user' || type === 'assistant' || type === 'system') {
        id ??= wordsOf(value['sessionId'])
        workdir ??= wordsOf(value['cwd'])
        const at = timeOf(value['timestamp'])
        createdAt ??= at ?? undefined
        const origin = { line, at }
        const message = objectOf(value['message'])
        if (type === 'assistant') {
          model = wordsOf(message['model'])?.replace(/^<.*/, '') || model
          signatures += listOf(message['content']).filter((part) => objectOf(part)['signature']).length
          add(value, { answer: textOf(message['id']) ?? null, messages: [answerOf(message, origin, remark)] })
        } else if (type === 'user') add(value, { answer: null, messages: saidByUser(value, message, origin, remark) })
        else {
          const text = wordsOf(value['content'])
          // A boundary of a compaction; its summary is the next line.
          const messages: ImportedMessage[] =
            text === undefined || value['subtype'] === 'compact_boundary'
              ? []
              : [{ role: 'note', ...origin, level: 'info', text }]
          add(value, { answer: null, messages })
        }
      } else if (!silent.has(String(type)))
        remark(line, 'unknown_record', `A line of the unknown type ${JSON.stringify(type)} was left out.`)
    },

    end() {
      if (beside > 0) remark(null, 'side_chain', `${beside} lines of subagents were left out.`)
      if (signatures > 0) remark(null, 'signature_dropped', `${signatures} signatures of thinking were left out.`)
      const join = createJoin()
      const { main, others, left } = linesOf(nodes, limits.branchesMax)
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

/** Results of calls made side by side hang beside the line, not on it: they are taken along. */
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

/** Joins the parts of each answer; the same parts give the same object, on whatever line. */
function createJoin(): (line: readonly Piece[]) => readonly ImportedMessage[] {
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

function answerOf(message: Loose, origin: Origin, remark: Remark): ImportedAnswer {
  const content = message['content']
  if (typeof content === 'string') return { role: 'assistant', ...origin, parts: [{ type: 'text', text: content }] }
  const parts = listOf(content)
    .map(objectOf)
    .flatMap((block): AnswerPart[] => {
      switch (block['type']) {
        case 'text':
          return [{ type: 'text', text: textOf(block['text']) ?? '' }]
        case 'thinking':
          return [{ type: 'thinking', text: textOf(block['thinking']) ?? '' }]
        case 'redacted_thinking':
          return []
        case 'tool_use':
        case 'server_tool_use':
          return [
            {
              type: 'call',
              id: String(block['id'] ?? ''),
              tool: textOf(block['name']) ?? '',
              args: block['input'] ?? {},
            },
          ]
        default:
          remark(
            origin.line,
            'unknown_part',
            `A part of the unknown type ${JSON.stringify(block['type'])} was left out.`,
          )
          return []
      }
    })
  return { role: 'assistant', ...origin, parts, usage: usageOf(message['usage']) }
}

function saidByUser(value: Loose, message: Loose, origin: Origin, remark: Remark): readonly ImportedMessage[] {
  const content = message['content']
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf)
  const results: ImportedMessage[] = []
  const parts: ImportedPart[] = []
  for (const block of blocks as readonly Loose[]) {
    if (block['type'] === 'tool_result') {
      const left = (what: string) => remark(origin.line, 'file_dropped', `A part of a result (${what}) was left out.`)
      const outcome = block['is_error'] === true ? 'failed' : 'ok'
      results.push({
        role: 'result',
        ...origin,
        callId: String(block['tool_use_id'] ?? ''),
        ...resultOf(block['content'], left),
        outcome,
      })
    } else if (block['type'] === 'text') parts.push({ type: 'text', text: textOf(block['text']) ?? '' })
    else {
      const bytes = bytesOf(objectOf(block['source'])['data'])
      if (bytes) parts.push({ type: 'file', bytes })
      else
        remark(origin.line, 'unknown_part', `A part of the unknown type ${JSON.stringify(block['type'])} was left out.`)
    }
  }
  if (parts.length === 0) return results
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  if (value['isCompactSummary'] === true)
    return [...results, { role: 'checkpoint', ...origin, summary: text, keepFrom: null }]
  if (value['isMeta'] === true) return [...results, { role: 'note', ...origin, level: 'info', text }]
  return [...results, { role: 'user', ...origin, parts }]
}
