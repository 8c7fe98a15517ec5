import {
  type CallId,
  clip,
  type Event,
  type EventOf,
  eventTokens,
  limits,
  MessageId,
  type Outcome,
  type Seq,
  type StepId,
  type TurnNumber,
  textTokens,
  type Usage,
} from '@holdfast/protocol'
import { boundParts } from '../parse/bound-parts.ts'
import type { AnswerPart, CallResult, ImportedAnswer, ImportedMessage, Remark } from '../parse/conversation.ts'
import { isObject } from '../parse/json.ts'
import type { ImportedLog } from './imported-log.ts'
import { splitContent, splitText } from './split-text.ts'
import type { StoredContent } from './store-content.ts'

/** The provider of imported answers: none of ours, so no opaque data is ever sent back with them. */
const provider = 'seed'
const toolCharsMax = 200
/** An answer with more calls becomes several. */
const roundCallsMax = 500

type MessageOf<Role> = Extract<ImportedMessage, { readonly role: Role }>

type HistoryWriter = {
  readonly log: ImportedLog
  /** The stored files and long outputs. */
  readonly stored: StoredContent
  readonly remark: Remark
  /** Returns the time of a message, also of one without its own. */
  readonly timeOf: (message: ImportedMessage) => number
  /** Called after each turn, with its last message. */
  readonly onTurnEnd: (last: ImportedMessage) => void
  /** The first seq of each message, so that a checkpoint can refer to it. */
  readonly begins: Map<ImportedMessage, number>
  /** Whether the file says what the whole session used. Otherwise a turn without its usage makes the sum unknown. */
  readonly knowsTotal: boolean
}

/**
 * Appends messages as a history that every provider accepts: each call is settled once, and nothing is empty. Yields
 * between messages, so that the records so far can be written.
 */
export function* writeLine(
  writing: HistoryWriter,
  whole: readonly ImportedMessage[],
  from: number,
): Generator<undefined> {
  const { log, remark, begins } = writing
  const results = pairCalls(whole, from === 0 ? remark : withoutShared(remark, whole, from))
  let turn = log.folded().state.turns as TurnNumber // a count
  let isOpen = false
  let step: StepId | null = null
  let last: ImportedMessage | null = null
  /** Whether the turn has an answer without its usage. */
  let lacksUsage = false
  /** The pinned messages of the turn, which are pinned after its end. */
  const pins: EventOf<'message.pinned'>[] = []

  /** Client events are written after the end of their turn, so that a grown file still starts with the same records. */
  const clientEvents: MessageOf<'client'>[] = []
  const writeClientEvents = () => {
    for (const one of clientEvents.splice(0)) {
      const { event, complete } = one
      log.add({ type: 'client.said', event, ...(complete && { complete }) }, writing.timeOf(one))
    }
  }
  const endTurn = (at: number) => {
    if (!isOpen) return
    // Once is enough: the sum stays unknown.
    const isSettled = writing.knowsTotal || log.folded().row.entry.meta.usage.cost === null
    if (lacksUsage && step !== null && !isSettled)
      log.add({ type: 'step.ended', turn, step, finish: 'stop', usage: null }, at)
    lacksUsage = false
    log.add({ type: 'turn.ended', turn, reason: 'done' }, at)
    for (const pin of pins.splice(0)) log.add(pin, at)
    writeClientEvents()
    turn = (turn + 1) as TurnNumber // a count
    isOpen = false
    step = null
    if (last) writing.onTurnEnd(last)
  }
  const beginTurn = (at: number) => {
    if (!isOpen) log.add({ type: 'turn.started', turn, cause: 'seed' }, at)
    isOpen = true
  }

  let at = 0
  const writeUsage = (usage: Usage) => {
    lacksUsage = false
    const used = step ?? (log.nextSeq() as StepId) // without an earlier answer it is a step of its own
    log.add({ type: 'step.ended', turn: getTurn(turn, isOpen), step: used, finish: 'stop', usage }, at)
  }
  for (let index = from; index < whole.length; index++) {
    const message = whole[index]
    if (message === undefined) break
    yield
    at = writing.timeOf(message)
    begins.set(message, log.nextSeq())
    if (message.role === 'user') {
      const content = writing.stored.contentOf(message)
      if (content.length === 0) {
        remark(message.line, 'empty_text', 'An empty prompt was left out.')
        continue
      }
      endTurn(at)
      begins.set(message, log.nextSeq())
      beginTurn(at)
      const pieces = splitContent(content)
      remarkSplit(pieces.length, message.line, remark)
      for (const piece of pieces) {
        const said: EventOf<'user.said'> = { type: 'user.said', turn, content: [...piece] }
        const seq = log.add(said, at)
        if (message.isPinned) pins.push(createPin(seq, said))
      }
    } else if (message.role === 'assistant') {
      const parts = usableParts(message, remark)
      if (parts.length > 0) {
        beginTurn(at)
        begins.set(message, log.nextSeq())
        for (const some of splitByCalls(parts)) {
          const written = writeAnswer(writing, turn, message, some, results)
          step = written.step
          pins.push(...written.pins)
        }
        lacksUsage = message.usage === undefined
      } else if (message.usage) writeUsage(message.usage)
    } else if (message.role === 'note') {
      if (message.text.trim() === '') continue
      const { level } = message
      const texts = splitText(message.text)
      remarkSplit(texts.length, message.line, remark)
      for (const text of texts)
        log.add({ type: 'note.added', turn: getTurn(turn, isOpen), kind: 'system', level, text }, at)
    } else if (message.role === 'usage') {
      writeUsage(message.usage)
    } else if (message.role === 'client') {
      clientEvents.push(message)
      if (!isOpen) writeClientEvents()
    } else if (message.role === 'checkpoint') writeCheckpoint(writing, getTurn(turn, isOpen), message, at)
    last = message
  }
  endTurn(at)
}

const createPin = (seq: Seq, event: Event): EventOf<'message.pinned'> => ({
  type: 'message.pinned',
  message: MessageId.parse(seq),
  pinned: true,
  tokens: eventTokens(event),
})

/** Returns the running turn, or the last one for a note between turns. */
const getTurn = (turn: TurnNumber, isOpen: boolean): TurnNumber =>
  isOpen ? turn : (Math.max(0, turn - 1) as TurnNumber) // a count

/** Drops remarks about the shared beginning, which were already made. */
function withoutShared(remark: Remark, whole: readonly ImportedMessage[], from: number): Remark {
  const known = new Set(whole.slice(0, from).map(({ line }) => line))
  return (line, code, what) => {
    if (line === null || !known.has(line)) remark(line, code, what)
  }
}

function usableParts({ parts, line }: ImportedAnswer, remark: Remark): readonly AnswerPart[] {
  const kept = parts.filter((part) => part.type === 'call' || part.text.trim() !== '')
  if (kept.length < parts.length) remark(line, 'empty_text', 'An empty part of an answer was left out.')
  return boundParts(kept, line, remark).flatMap((part): readonly AnswerPart[] => {
    if (part.type === 'call') return [part]
    const texts = splitText(part.text)
    remarkSplit(texts.length, line, remark)
    return texts.length === 1 ? [part] : texts.map((text) => ({ ...part, text }))
  })
}

/** A message is sent, shown and exported whole, so its length has a limit. */
function remarkSplit(pieces: number, line: number, remark: Remark): void {
  if (pieces <= 1) return
  const max = limits.importedTextCharsMax
  remark(line, 'text_split', `A text of more than ${max} characters was split into ${pieces} messages.`)
}

/** Splits an answer with very many calls: a round is folded in time proportional to the square of its calls. */
function splitByCalls(parts: readonly AnswerPart[]): readonly (readonly AnswerPart[])[] {
  const pieces: AnswerPart[][] = [[]]
  let calls = 0
  for (const part of parts) {
    if (part.type === 'call' && ++calls % roundCallsMax === 1 && calls > 1) pieces.push([])
    pieces.at(-1)?.push(part)
  }
  return pieces
}

function writeAnswer(
  writing: HistoryWriter,
  turn: TurnNumber,
  message: ImportedAnswer,
  parts: readonly AnswerPart[],
  results: ReadonlyMap<AnswerPart, CallResult>,
): { readonly step: StepId; readonly pins: readonly EventOf<'message.pinned'>[] } {
  const { log, stored, remark, timeOf } = writing
  const at = timeOf(message)
  const step = log.nextSeq() as StepId // an answer's id is its first seq
  const calls: { readonly call: CallId; readonly result: CallResult | undefined }[] = []
  const pins: EventOf<'message.pinned'>[] = []
  for (const part of parts) {
    const add = (event: Event): Seq => {
      const seq = log.add(event, at)
      if (part.isPinned) pins.push(createPin(seq, event))
      return seq
    }
    if (part.type === 'call') {
      if (!isObject(part.args))
        remark(
          message.line,
          'malformed_arguments',
          'The arguments of a call are not an object; they are now its input.',
        )
      const args = boundArgs(
        isObject(part.args) ? { ...part.args } : { input: part.args ?? null },
        message.line,
        remark,
      )
      const tool = clip(part.tool, toolCharsMax).toWellFormed() || 'unknown'
      const call = add({ type: 'call.requested', turn, step, tool, args, provider }) as CallId // as above
      calls.push({ call, result: results.get(part) })
    } else add({ type: part.type === 'text' ? 'text.said' : 'thinking.said', turn, step, text: part.text, provider })
  }
  if (message.usage)
    log.add({ type: 'step.ended', turn, step, finish: calls.length > 0 ? 'calls' : 'stop', usage: message.usage }, at)
  for (const { call, result } of calls) {
    const settled = { call, outcome: toOutcome(result, stored), durationMs: result?.durationMs ?? null }
    log.add({ type: 'call.settled', ...settled }, result ? timeOf(result) : at)
  }
  // Images of results follow the round as a user message, where every provider accepts them.
  for (const { result } of calls) {
    const content = stored.contentOf({ parts: result?.files ?? [] })
    if (result === undefined || content.length === 0) continue
    remark(result.line, 'file_moved', 'An image of a result is now a message after it.')
    log.add({ type: 'user.said', turn, content: [{ type: 'text', text: pictureText }, ...content] }, timeOf(result))
  }
  return { step, pins }
}

/** Cuts arguments that are longer than those of any call here. */
function boundArgs(args: Record<string, unknown>, line: number, remark: Remark): Record<string, unknown> {
  const json = JSON.stringify(args)
  if (json.length <= limits.importedTextCharsMax) return args
  remark(line, 'text_cut', `The arguments of a call have ${json.length} characters and were cut.`)
  return { input: clip(json, limits.importedTextCharsMax).toWellFormed() }
}

const pictureText = '(from the result of a tool)'

function toOutcome(result: CallResult | undefined, stored: StoredContent): Outcome {
  if (result === undefined) return { type: 'interrupted', code: 'cancelled' }
  const output = stored.outputOf(result)
  return result.outcome === 'interrupted'
    ? { type: 'interrupted', code: 'cancelled', output }
    : { type: result.outcome, output }
}

function writeCheckpoint(
  { log, begins, remark }: HistoryWriter,
  turn: TurnNumber,
  message: MessageOf<'checkpoint'>,
  at: number,
): void {
  const { state } = log.folded()
  const { keepFrom, line } = message
  const summary = clip(message.summary, limits.importedTextCharsMax)
  if (summary !== message.summary) remark(line, 'text_cut', 'The summary of a checkpoint was too long and was cut.')
  const named = keepFrom === null ? undefined : begins.get(keepFrom)
  const what =
    'The first kept message of a checkpoint is not in the file: the model gets only what follows the checkpoint.'
  if (keepFrom !== null && named === undefined) remark(line, 'checkpoint_dropped', what)
  const kept = named === undefined ? 0 : Math.ceil(state.tokens * ((log.nextSeq() - named) / log.nextSeq()))
  const tokensAfter = Math.min(state.tokens, kept + textTokens(summary))
  const written = { summary, keepFrom: named ?? log.nextSeq() + 1, tokensBefore: state.tokens, tokensAfter }
  log.add({ type: 'checkpoint.written', turn, ...written, why: 'made' }, at)
}

type Call = Extract<AnswerPart, { type: 'call' }>
type OpenCall = { readonly call: Call; readonly line: number; readonly round: number }

/** Finds the result of each call: a result answers the oldest open call with its id, and is left out without one. */
function pairCalls(line: readonly ImportedMessage[], remark: Remark): ReadonlyMap<Call, CallResult> {
  const open = new Map<string, { readonly calls: OpenCall[]; answered: number }>()
  const paired = new Map<Call, CallResult>()
  let round = 0
  for (const message of line) {
    if (message.role === 'user') round++
    if (message.role === 'assistant') {
      round++
      for (const part of message.parts) {
        if (part.type !== 'call') continue
        const opened = { call: part, line: message.line, round }
        const same = open.get(part.id)
        if (same) same.calls.push(opened)
        else open.set(part.id, { calls: [opened], answered: 0 })
      }
    }
    if (message.role !== 'result') continue
    const same = open.get(message.callId)
    const answered = same?.calls[same.answered]
    if (same === undefined || answered === undefined) {
      remark(message.line, 'orphan_result', 'A result that answers no call was left out.')
      continue
    }
    same.answered++
    if (answered.round !== round) remark(message.line, 'late_result', 'A late result was moved to its call.')
    paired.set(answered.call, message)
  }
  for (const { calls, answered } of open.values())
    for (const { call, line: at } of calls.slice(answered))
      remark(at, 'orphan_call', `The call of ${call.tool || 'a tool'} never got a result; it is now interrupted.`)
  return paired
}
