import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart } from '@holdfast/core/ports'
import { clip, continueText } from '@holdfast/protocol'
import { type DemoFailure, type DemoLine, readDemoLine } from './line.ts'
import {
  abilities,
  cutBeginning,
  cutEnd,
  explainUnknown,
  nothingLeft,
  reportResult,
  resuming,
  writePlan,
} from './texts.ts'

type Call = Extract<DemoLine, { readonly type: 'call' }>

/** The whole answer of the demo, before it is streamed. */
export type DemoAnswer = {
  readonly thinking: string
  readonly text: string
  /** Numbers to count after the text, for trying abort, steering and reconnecting. */
  readonly count: { readonly from: number; readonly to: number } | null
  readonly calls: readonly Pick<Call, 'tool' | 'args'>[]
  readonly failure: DemoFailure | null
}

/** Builds the answer as a pure function of the request, so that a retry and a replay give the same. */
export function buildAnswer({ messages: all, tools }: ModelRequest): DemoAnswer {
  const { messages, saidBefore } = findRequest(all)
  const isResumed = saidBefore.length > 0
  const results = findNewResults(messages)
  const lines = findNewLines(messages)
  const offered = new Set(tools.map(({ name }) => name))
  const calls = lines.filter((line) => line.type === 'call')
  const possible = calls.filter(({ tool }) => offered.has(tool))
  const missing = calls.filter(({ tool }) => !offered.has(tool))
  const unknown = lines.filter((line) => line.type === 'unknown')
  const count = lines.findLast((line) => line.type === 'count')
  const failure = lines.find((line) => line.type === 'fail')?.how ?? null

  const texts = [
    ...results.map(({ call, result }) => reportResult(call, result)),
    ...missing.map(({ verb, tool }) => `I cannot ${verb} here: this session does not offer the tool ${tool}.`),
    ...lines.flatMap((line) => (line.type === 'plan' ? [writePlan(line.request, readDemoLine(line.request))] : [])),
    ...(unknown.length > 0 ? [explainUnknown(unknown.map(({ text }) => clip(text, 80)))] : []),
    ...(lines.length === 0 && results.length === 0 ? [abilities] : []),
    ...(failure === 'cut' ? [cutBeginning, cutEnd] : []),
    ...(possible.length > 0 ? [announceCalls(possible)] : []),
  ]
  const unsaid = saidBefore.reduce(removeSaid, texts)
  const isAllSaid = unsaid.length === 0 && count === undefined && possible.length === 0
  return {
    thinking: isResumed ? resuming : describeThoughts(lines, results.length),
    text: (isAllSaid ? [nothingLeft] : unsaid).join(separator),
    count: count === undefined ? null : { from: findLastNumber(saidBefore) + 1, to: count.to },
    calls: possible.map(({ tool, args }) => ({ tool, args })),
    failure: isResumed ? null : failure, // it has already cut the answer
  }
}

const separator = '\n\n'

type ResumedRequest = {
  /** The messages to answer. */
  readonly messages: readonly RequestMessage[]
  /** The texts of interrupted answers to them, in order. */
  readonly saidBefore: readonly string[]
}

/** Separates interrupted answers that are to be continued from the request before them. */
function findRequest(all: readonly RequestMessage[]): ResumedRequest {
  let messages = all
  const saidBefore: string[] = []
  for (;;) {
    const rest = isContinue(messages.at(-1)) ? messages.slice(0, -1) : messages
    const cut = rest.at(-1)
    if (cut?.role !== 'assistant') return { messages, saidBefore }
    saidBefore.unshift(...cut.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    messages = rest.slice(0, -1)
  }
}

/** Returns whether this is the text that stands for "continue". */
const isContinue = (message: RequestMessage | undefined): boolean =>
  message?.role === 'user' && message.content.every((part) => part.type === 'text' && part.text === continueText)

/** Removes the texts that an interrupted answer already has. A half text is repeated whole. */
function removeSaid(texts: readonly string[], said: string): readonly string[] {
  const [first] = texts
  if (first === undefined || !said.startsWith(first)) return texts
  return removeSaid(texts.slice(1), said.slice(first.length + separator.length))
}

type CallResult = { readonly call: Extract<AssistantPart, { type: 'call' }> | null; readonly result: ToolResultPart }

/** Finds the results since the model's last answer. Steering may follow them. */
function findNewResults(messages: readonly RequestMessage[]): readonly CallResult[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user')
  const round = messages[at]
  const before = messages[at - 1]
  if (round?.role !== 'tool') return []
  const calls = before?.role === 'assistant' ? before.content.filter((part) => part.type === 'call') : []
  return round.content.map((result) => ({ call: calls.find(({ id }) => id === result.id) ?? null, result }))
}

/** Finds the prompt lines since the model's last answer. `fail` counts only in the newest prompt. */
function findNewLines(messages: readonly RequestMessage[]): readonly DemoLine[] {
  const start = messages.findLastIndex(({ role }) => role !== 'user') + 1
  const prompts = messages
    .slice(start)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .flatMap((part) => (part.type === 'text' && part.text !== continueText ? [part.text] : []))
  return prompts.flatMap((prompt, index) =>
    prompt
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(readDemoLine)
      .filter((line) => line.type !== 'fail' || index === prompts.length - 1),
  )
}

/** Finds where an interrupted count stopped, so that `continue` resumes there. */
function findLastNumber(said: readonly string[]): number {
  const counted = said.findLast((text) => /^\d+, [\d, ]*\.?$/.test(text)) ?? ''
  // The last number may be cut too, so it is repeated.
  const whole = /(\d+)[,.][^,.]*$/.exec(counted)?.[1]
  return whole === undefined ? 0 : Number(whole)
}

const announceCalls = (calls: readonly Call[]): string =>
  calls.length === 1 ? `I will use ${calls[0]?.tool}.` : `I will use ${calls.length} tools at once.`

function describeThoughts(lines: readonly DemoLine[], results: number): string {
  if (lines.length === 0) {
    return results === 0 ? 'There is nothing to do yet.' : 'The tools are done. I will say what they returned.'
  }
  const steps = lines.map((line) => (line.type === 'call' ? `${line.verb} with ${line.tool}` : line.type))
  return `The request has ${lines.length === 1 ? 'one line' : `${lines.length} lines`}: ${clip(steps.join(', '), 200)}.`
}
