import { type CallId, clip, type Outcome, type StepId, TurnNumber, textTokens, type Usage } from '@holdfast/protocol'
import type {
  AnswerPart,
  CallResult,
  Checkpoint,
  ImportedAnswer,
  ImportedMessage,
  Remark,
} from '../parse/conversation.ts'
import { isObject } from '../parse/loose.ts'
import { pairCalls } from './pair-calls.ts'
import type { Past } from './past.ts'
import type { Stored } from './stored-parts.ts'

/** Who wrote what came from elsewhere: no provider of ours, so nothing opaque is ever sent back with it. */
const provider = 'seed'
const toolCharsMax = 200

type ClientMessage = Extract<ImportedMessage, { role: 'client' }>

export type Writing = {
  readonly past: Past
  /** What long outputs and files became. */
  readonly stored: Stored
  readonly remark: Remark
  /** When a message without a time was said. */
  readonly timeOf: (message: ImportedMessage) => number
  /** Called where a turn has ended, with the last message of it. */
  readonly atRest: (last: ImportedMessage) => void
  /** The seq at which each message begins, so that a checkpoint can name it. */
  readonly begins: Map<ImportedMessage, number>
}

/**
 * Writes messages behind what is there as a history every provider accepts: each prompt begins a turn, each call is
 * settled once, behind its answer, and nothing is empty.
 */
export function writeLine(writing: Writing, whole: readonly ImportedMessage[], from: number): void {
  const { past, remark, begins } = writing
  const results = pairCalls(whole, from === 0 ? remark : besides(remark, whole, from))
  let turn = TurnNumber.parse(past.folded.state.turns)
  let isOpen = false
  let step: StepId | null = null
  let last: ImportedMessage | null = null

  /** What clients left in a turn stands behind its end, so that a file that has grown begins as it did. */
  const left: ClientMessage[] = []
  const writeLeft = () => {
    for (const one of left.splice(0)) {
      const { event, complete } = one
      past.add({ type: 'client.said', event, ...(complete && { complete }) }, writing.timeOf(one))
    }
  }
  const endTurn = (at: number) => {
    if (!isOpen) return
    past.add({ type: 'turn.ended', turn, reason: 'done' }, at)
    writeLeft()
    turn = TurnNumber.parse(turn + 1)
    isOpen = false
    step = null
    if (last) writing.atRest(last)
  }
  const beginTurn = (at: number) => {
    if (!isOpen) past.add({ type: 'turn.started', turn, cause: 'seed' }, at)
    isOpen = true
  }

  let at = 0
  const writeUsage = (usage: Usage) => {
    const used = step ?? (past.next as StepId) // without an answer before it, it is a step of its own
    past.add({ type: 'step.ended', turn: turnNow(turn, isOpen), step: used, finish: 'stop', usage }, at)
  }
  for (const message of whole.slice(from)) {
    at = writing.timeOf(message)
    begins.set(message, past.next)
    if (message.role === 'user') {
      const content = writing.stored.contentOf(message)
      if (content.length === 0) {
        remark(message.line, 'empty_text', 'An empty prompt was left out.')
        continue
      }
      endTurn(at)
      begins.set(message, past.next)
      beginTurn(at)
      past.add({ type: 'user.said', turn, content: [...content] }, at)
    } else if (message.role === 'assistant') {
      const parts = usableParts(message, remark)
      if (parts.length > 0) {
        beginTurn(at)
        begins.set(message, past.next)
        step = writeAnswer(writing, turn, message, parts, results)
      } else if (message.usage) writeUsage(message.usage)
    } else if (message.role === 'note') {
      if (message.text.trim() === '') continue
      const { level, text } = message
      past.add({ type: 'note.added', turn: turnNow(turn, isOpen), kind: 'system', level, text }, at)
    } else if (message.role === 'usage') {
      writeUsage(message.usage)
    } else if (message.role === 'client') {
      left.push(message)
      if (!isOpen) writeLeft()
    } else if (message.role === 'checkpoint') writeCheckpoint(writing, turnNow(turn, isOpen), message, at)
    last = message
  }
  endTurn(at)
}

/** A note after the end of a turn belongs to it. */
const turnNow = (turn: TurnNumber, isOpen: boolean): TurnNumber =>
  TurnNumber.parse(isOpen ? turn : Math.max(0, turn - 1))

/** What a shared beginning gave rise to has been said already. */
function besides(remark: Remark, whole: readonly ImportedMessage[], from: number): Remark {
  const said = new Set(whole.slice(0, from).map(({ line }) => line))
  return (line, code, what) => {
    if (line === null || !said.has(line)) remark(line, code, what)
  }
}

function usableParts({ parts, line }: ImportedAnswer, remark: Remark): readonly AnswerPart[] {
  const kept = parts.filter((part) => part.type === 'call' || part.text.trim() !== '')
  if (kept.length < parts.length) remark(line, 'empty_text', 'An empty part of an answer was left out.')
  return kept
}

function writeAnswer(
  writing: Writing,
  turn: TurnNumber,
  message: ImportedAnswer,
  parts: readonly AnswerPart[],
  results: ReadonlyMap<AnswerPart, CallResult>,
): StepId {
  const { past, stored, remark, timeOf } = writing
  const at = timeOf(message)
  const step = past.next as StepId // an answer is known by its first record
  const calls: { readonly call: CallId; readonly result: CallResult | undefined }[] = []
  for (const part of parts) {
    if (part.type === 'call') {
      const args = usableArgs(part, message.line, remark)
      const tool = clip(part.tool, toolCharsMax).toWellFormed() || 'unknown'
      const call = past.add({ type: 'call.requested', turn, step, tool, args, provider }, at) as CallId // as above
      calls.push({ call, result: results.get(part) })
    } else
      past.add(
        { type: part.type === 'text' ? 'text.said' : 'thinking.said', turn, step, text: part.text, provider },
        at,
      )
  }
  if (message.usage) {
    past.add({ type: 'step.ended', turn, step, finish: calls.length > 0 ? 'calls' : 'stop', usage: message.usage }, at)
  }
  for (const { call, result } of calls) {
    const durationMs = result?.durationMs ?? null
    past.add(
      { type: 'call.settled', call, outcome: outcomeOf(result, stored), durationMs },
      result ? timeOf(result) : at,
    )
  }
  writePictures(
    writing,
    turn,
    calls.flatMap(({ result }) => result ?? []),
  )
  return step
}

/** A result is words: the pictures it brought are shown behind the round, where every provider takes them. */
function writePictures(
  { past, stored, remark, timeOf }: Writing,
  turn: TurnNumber,
  results: readonly CallResult[],
): void {
  for (const result of results) {
    const content = stored.contentOf({ parts: result.files ?? [] })
    if (content.length === 0) continue
    remark(result.line, 'file_moved', 'A picture of a result now stands behind it, as a message.')
    past.add({ type: 'user.said', turn, content: [{ type: 'text', text: pictureWords }, ...content] }, timeOf(result))
  }
}

const pictureWords = '(from the result of a tool)'

function usableArgs(
  { args }: Extract<AnswerPart, { type: 'call' }>,
  line: number,
  remark: Remark,
): Record<string, unknown> {
  if (isObject(args)) return { ...args }
  remark(line, 'malformed_arguments', 'The arguments of a call are no object; they are now its input.')
  return { input: args ?? null }
}

function outcomeOf(result: CallResult | undefined, stored: Stored): Outcome {
  if (result === undefined) return { type: 'interrupted', code: 'cancelled' }
  const output = stored.outputOf(result)
  return result.outcome === 'interrupted'
    ? { type: 'interrupted', code: 'cancelled', output }
    : { type: result.outcome, output }
}

function writeCheckpoint({ past, begins, remark }: Writing, turn: TurnNumber, message: Checkpoint, at: number): void {
  const { state } = past.folded
  const { summary, keepFrom, line } = message
  const named = keepFrom === null ? undefined : begins.get(keepFrom)
  if (keepFrom !== null && named === undefined)
    remark(
      line,
      'checkpoint_dropped',
      'Where a checkpoint began is not in the file: the model is told what follows it.',
    )
  const kept = named === undefined ? 0 : Math.ceil(state.tokens * ((past.next - named) / past.next))
  past.add(
    {
      type: 'checkpoint.written',
      turn,
      summary,
      keepFrom: named ?? past.next + 1,
      tokensBefore: state.tokens,
      tokensAfter: Math.min(state.tokens, kept + textTokens(summary)),
      why: 'made',
    },
    at,
  )
}
