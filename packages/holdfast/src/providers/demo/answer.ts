import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart } from '@holdfast/core/ports'
import { clip, continueText } from '@holdfast/protocol'
import { type DemoFailure, type DemoLine, readDemoLine } from './line.ts'
import {
  abilities,
  afterResults,
  cutBeginning,
  cutEnd,
  goingOn,
  howToPlan,
  missingTool,
  nothingLeft,
  notUnderstood,
} from './words.ts'

type Call = Extract<DemoLine, { readonly type: 'call' }>

/** All that the demo will say to a request, before any of it is streamed. */
export type DemoAnswer = {
  readonly thinking: string
  readonly text: string
  /** Told number by number, after the text: for trying abort, steering and reconnecting. */
  readonly count: { readonly from: number; readonly to: number } | null
  readonly calls: readonly Pick<Call, 'tool' | 'args'>[]
  readonly failure: DemoFailure | null
}

/** What the demo answers: a pure function of the request, so that a retry and a replay say the same. */
export function answerTo({ messages: told, tools }: ModelRequest): DemoAnswer {
  const { messages, saidBefore } = takeUp(told)
  const isTakenUp = saidBefore.length > 0
  const results = resultsToTell(messages)
  const lines = linesToDo(messages)
  const offered = new Set(tools.map(({ name }) => name))
  const calls = lines.filter((line) => line.type === 'call')
  const possible = calls.filter(({ tool }) => offered.has(tool))
  const missing = calls.filter(({ tool }) => !offered.has(tool))
  const unknown = lines.filter((line) => line.type === 'unknown')
  const count = lines.findLast((line) => line.type === 'count')
  const failure = lines.find((line) => line.type === 'fail')?.how ?? null

  const words = [
    ...results.map(({ call, result }) => afterResults(call, result)),
    ...missing.map(({ verb, tool }) => missingTool(verb, tool)),
    ...lines.flatMap((line) => (line.type === 'plan' ? [howToPlan(line.request, readDemoLine(line.request))] : [])),
    ...(unknown.length > 0 ? [notUnderstood(unknown.map(({ text }) => clip(text, 80)))] : []),
    ...(lines.length === 0 && results.length === 0 ? [abilities] : []),
    ...(failure === 'cut' ? [cutBeginning, cutEnd] : []),
    ...(possible.length > 0 ? [introduction(possible)] : []),
  ]
  const unsaid = saidBefore.reduce(withoutSaid, words)
  const isAllSaid = unsaid.length === 0 && count === undefined && possible.length === 0
  return {
    thinking: isTakenUp ? goingOn : thoughts(lines, results.length),
    text: (isAllSaid ? [nothingLeft] : unsaid).join(between),
    count: count === undefined ? null : { from: countedIn(saidBefore) + 1, to: count.to },
    calls: possible.map(({ tool, args }) => ({ tool, args })),
    failure: isTakenUp ? null : failure, // met already: it is what cut the answer
  }
}

const between = '\n\n'

type TakenUp = {
  /** What is to be answered. */
  readonly messages: readonly RequestMessage[]
  /** What cut answers to it have already said, the parts of all of them in order. */
  readonly saidBefore: readonly string[]
}

/** The request behind the answers that were cut and are to be continued; the request as it is where none was. */
function takeUp(told: readonly RequestMessage[]): TakenUp {
  let messages = told
  const saidBefore: string[] = []
  for (;;) {
    const rest = isGoOn(messages.at(-1)) ? messages.slice(0, -1) : messages
    const cut = rest.at(-1)
    if (cut?.role !== 'assistant') return { messages, saidBefore }
    saidBefore.unshift(...cut.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    messages = rest.slice(0, -1)
  }
}

/** Whether this is what a request says where no person spoke. */
const isGoOn = (message: RequestMessage | undefined): boolean =>
  message?.role === 'user' && message.content.every((part) => part.type === 'text' && part.text === continueText)

/** The words without those a cut answer began with. One it broke off in is told again rather than half. */
function withoutSaid(words: readonly string[], said: string): readonly string[] {
  const [first] = words
  if (first === undefined || !said.startsWith(first)) return words
  return withoutSaid(words.slice(1), said.slice(first.length + between.length))
}

type Told = { readonly call: Extract<AssistantPart, { type: 'call' }> | null; readonly result: ToolResultPart }

/** The round that was just closed, if the model has not spoken since. Steering may have come after it. */
function resultsToTell(messages: readonly RequestMessage[]): readonly Told[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user')
  const round = messages[at]
  const before = messages[at - 1]
  if (round?.role !== 'tool') return []
  const calls = before?.role === 'assistant' ? before.content.filter((part) => part.type === 'call') : []
  return round.content.map((result) => ({ call: calls.find(({ id }) => id === result.id) ?? null, result }))
}

/** The lines nobody has acted on yet: what people said last. A `fail` is met once: only the newest prompt can ask for it. */
function linesToDo(messages: readonly RequestMessage[]): readonly DemoLine[] {
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

/** Where a cut count stood, so that `continue` goes on from there. */
function countedIn(said: readonly string[]): number {
  const counted = said.findLast((text) => /^\d+, [\d, ]*\.?$/.test(text)) ?? ''
  // The last number may itself have been cut; it is told again rather than skipped.
  const whole = /(\d+)[,.][^,.]*$/.exec(counted)?.[1]
  return whole === undefined ? 0 : Number(whole)
}

const introduction = (calls: readonly Call[]): string =>
  calls.length === 1 ? `I will use ${calls[0]?.tool}.` : `I will use ${calls.length} tools at once.`

function thoughts(lines: readonly DemoLine[], results: number): string {
  if (lines.length === 0) {
    return results === 0 ? 'There is nothing to do yet.' : 'The tools are done. I will say what they returned.'
  }
  const steps = lines.map((line) => (line.type === 'call' ? `${line.verb} with ${line.tool}` : line.type))
  return `The request has ${lines.length === 1 ? 'one line' : `${lines.length} lines`}: ${clip(steps.join(', '), 200)}.`
}
