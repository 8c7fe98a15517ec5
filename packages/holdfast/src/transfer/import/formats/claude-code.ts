import type { ImportedAnswer, ImportedMessage, Origin, Remark } from '../parse/conversation.ts'
import type { LineFormat, LineParser } from '../parse/format.ts'
import * as json from '../parse/json.ts'
import { findLines, type TreeNode } from '../parse/message-tree.ts'
import * as read from '../parse/messages.ts'

const ignoredTypes = /^(file-history-snapshot|queue-operation|progress|attachment|last-prompt|agent-name|pr-link)$/

/** Claude Code: one part of a message per line. Each line names its parent, so a file holds a tree. */
export const lineFormat: LineFormat = {
  name: 'claude-code',
  owns: (value) =>
    (typeof value['sessionId'] === 'string' && typeof value['type'] === 'string') ||
    (value['type'] === 'summary' && 'leafUuid' in value) ||
    (value['type'] === 'file-history-snapshot' && 'messageId' in value),
  parse: createParser,
}

/** More ids are not told apart. */
const idsMax = 1000

/** A session that was continued has the lines of the earlier one, with its id. Other files may hold sessions that do not belong together. */
const remarkSessions = (remark: Remark, others: number): void =>
  remark(
    null,
    'several_sessions',
    `Its lines name ${others === idsMax ? `more than ${idsMax}` : others + 1} sessions; they were imported as one.`,
  )

/** The content of a line; lines with the same `answer` are parts of one answer. */
type Piece = { readonly answer: string | undefined; readonly messages: readonly ImportedMessage[] }

function createParser(remark: Remark): LineParser {
  const nodes: TreeNode<Piece>[] = []
  let id: string | undefined
  let title: string | undefined
  let workdir: string | undefined
  let model: string | undefined
  let createdAt: number | undefined
  let sideChainLines = 0
  const otherIds = new Set<string>()
  let signatures = 0

  const addMessage = (value: json.JsonObject, line: number) => {
    const own = json.nonBlank(value['sessionId'])
    id ??= own
    if (own !== undefined && own !== id && otherIds.size < idsMax) otherIds.add(own)
    workdir ??= json.nonBlank(value['cwd'])
    const origin = { line, at: json.time(value['timestamp']) }
    createdAt ??= origin.at ?? undefined
    const message = json.object(value['message'])
    const isAnswer = value['type'] === 'assistant'
    if (isAnswer) {
      model = json.nonBlank(message['model'])?.replace(/^<.*/, '') || model
      signatures += json.objects(message['content']).filter((part) => part['signature']).length
    }
    const messages = isAnswer
      ? [readAnswer(message, origin, remark)]
      : value['type'] === 'user'
        ? readUserMessage(value, message['content'], origin, remark)
        : readSystemMessage(value, origin)
    nodes.push({
      id: json.text(value['uuid']),
      parent: json.text(value['parentUuid']) ?? json.text(value['logicalParentUuid']),
      value: { answer: isAnswer ? json.text(message['id']) : undefined, messages },
      isLeaf: messages.some(({ role }) => role !== 'result' && role !== 'note'),
    })
  }

  return {
    add(value, line) {
      const { type } = value
      if (type === 'summary') title ??= json.nonBlank(value['summary'])
      else if (type === 'custom-title' || type === 'ai-title')
        title = json.nonBlank(value['customTitle'] ?? value['aiTitle']) ?? title
      else if (value['isSidechain'] === true) sideChainLines++
      else if (type === 'user' || type === 'assistant' || type === 'system') addMessage(value, line)
      else if (!ignoredTypes.test(String(type))) read.remarkUnknownRecord(remark, line, 'A line', type)
    },

    end() {
      if (otherIds.size > 0) remarkSessions(remark, otherIds.size)
      if (sideChainLines > 0) remark(null, 'side_chain', `${sideChainLines} lines of subagents were left out.`)
      read.remarkSignatures(remark, signatures)
      const joinAnswers = createAnswerJoiner()
      const { main, others } = findLines(nodes, remark)
      const all = nodes.map(({ value }) => value)
      return {
        about: { id, title, workdir, model: model === undefined ? undefined : `anthropic/${model}`, createdAt },
        messages: joinAnswers(withResults(main, all)),
        branches: others.map((line) => ({ name: null, messages: joinAnswers(withResults(line, all)) })),
      }
    },
  }
}

/** Adds the results of parallel calls, which are not on the line itself. */
function withResults(line: readonly Piece[], all: readonly Piece[]): readonly Piece[] {
  const messages = line.flatMap((piece) => piece.messages)
  const parts = messages.flatMap((one) => (one.role === 'assistant' ? one.parts : []))
  const called = new Set(parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])))
  const answered = new Set(messages.flatMap((one) => (one.role === 'result' ? [one.callId] : [])))
  if (called.size === answered.size) return line
  const onLine = new Set(line)
  const isMissing = (one: ImportedMessage) =>
    one.role === 'result' && called.has(one.callId) && !answered.has(one.callId)
  return all.filter((piece) => onLine.has(piece) || (piece.messages.length > 0 && piece.messages.every(isMissing)))
}

/** Joins the parts of each answer. The same parts give the same object on every line. */
function createAnswerJoiner(): (line: readonly Piece[]) => readonly ImportedMessage[] {
  const known = new Map<string, ImportedAnswer>()
  const join = (answers: readonly ImportedAnswer[]): readonly ImportedAnswer[] => {
    const [first] = answers
    if (!first || answers.length === 1) return answers
    const name = answers.map(({ line }) => line).join()
    const parts = answers.flatMap((answer) => answer.parts)
    const joined = known.get(name) ?? { ...first, parts, usage: answers.at(-1)?.usage }
    known.set(name, joined)
    return [joined]
  }
  return (line) => {
    const messages: ImportedMessage[] = []
    let id: string | undefined
    let answers: ImportedAnswer[] = []
    let results: ImportedMessage[] = []
    const endAnswer = () => {
      for (const one of join(answers)) messages.push(one)
      for (const one of results) messages.push(one)
      answers = []
      results = []
    }
    for (const { answer, messages: some } of line) {
      for (const one of some) {
        if (one.role === 'result' && answers.length > 0) results.push(one)
        else if (one.role === 'assistant') {
          if (answer === undefined || answer !== id) endAnswer()
          id = answer
          answers.push(one)
        } else {
          endAnswer()
          messages.push(one)
        }
      }
    }
    endAnswer()
    return messages
  }
}

function readAnswer(message: json.JsonObject, origin: Origin, remark: Remark): ImportedAnswer {
  const { content, usage } = message
  if (typeof content === 'string') return { role: 'assistant', ...origin, parts: [{ type: 'text', text: content }] }
  const parts = read.answerParts(content, origin.line, remark, ({ type, id, name, input }) => {
    if (type === 'tool_use' || type === 'server_tool_use') return [read.call(id, name, input ?? {})]
    return type === 'redacted_thinking' ? [] : null
  })
  return { role: 'assistant', ...origin, parts, usage: read.usage(usage) }
}

function readUserMessage(value: json.JsonObject, content: unknown, origin: Origin, remark: Remark) {
  const results = json
    .objects(content)
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id, content, is_error }) => read.result(origin, tool_use_id, content, is_error, remark))
  const others = json.objects(content).filter(({ type }) => type !== 'tool_result')
  const parts = read.userParts(typeof content === 'string' ? content : others, origin.line, remark)
  if (parts.length === 0) return results
  const text = read.joinTexts(parts)
  if (value['isCompactSummary'] === true) return [...results, read.checkpoint(origin, text)]
  if (value['isMeta'] === true) return [...results, read.note(origin, text)]
  return [...results, { role: 'user', ...origin, parts } as const]
}

/** Leaves out a compaction boundary; its summary is on the next line. */
function readSystemMessage({ content, subtype }: json.JsonObject, origin: Origin): readonly ImportedMessage[] {
  const text = json.nonBlank(content)
  return text === undefined || subtype === 'compact_boundary' ? [] : [read.note(origin, text)]
}
