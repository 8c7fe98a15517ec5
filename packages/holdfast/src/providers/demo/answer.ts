import type { AssistantPart, ModelRequest, RequestMessage, ToolResultPart } from '@holdfast/core/ports'
import { clip } from '@holdfast/protocol'
import { type DemoFailure, type DemoLine, readDemoLine } from './line.ts'
import { abilities, afterResults, howToPlan, missingTool, notUnderstood } from './words.ts'

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
export function answerTo({ messages, tools }: ModelRequest): DemoAnswer {
  const results = resultsToTell(messages)
  const lines = linesToDo(messages)
  const offered = new Set(tools.map(({ name }) => name))
  const calls = lines.filter((line) => line.type === 'call')
  const possible = calls.filter(({ tool }) => offered.has(tool))
  const missing = calls.filter(({ tool }) => !offered.has(tool))
  const unknown = lines.filter((line) => line.type === 'unknown')
  const count = lines.findLast((line) => line.type === 'count')

  const words = [
    ...results.map(({ call, result }) => afterResults(call, result)),
    ...missing.map(({ verb, tool }) => missingTool(verb, tool)),
    ...lines.flatMap((line) => (line.type === 'plan' ? [howToPlan(line.request, readDemoLine(line.request))] : [])),
    ...(unknown.length > 0 ? [notUnderstood(unknown.map(({ text }) => clip(text, 80)))] : []),
    ...(lines.length === 0 && results.length === 0 ? [abilities] : []),
    ...(possible.length > 0 ? [introduction(possible)] : []),
  ]
  return {
    thinking: thoughts(lines, results.length),
    text: words.join('\n\n'),
    count: count === undefined ? null : { from: countedSoFar(messages) + 1, to: count.to },
    calls: possible.map(({ tool, args }) => ({ tool, args })),
    failure: lines.find((line) => line.type === 'fail')?.how ?? null,
  }
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

/**
 * The lines nobody has acted on yet: what people said after the last answer, or, when an answer was cut short and is
 * to be continued, what it was an answer to. A `fail` is met once: only the newest prompt can ask for it.
 */
function linesToDo(messages: readonly RequestMessage[]): readonly DemoLine[] {
  const last = messages.at(-1)
  if (last?.role === 'tool') return []
  const end = last?.role === 'assistant' ? messages.findLastIndex(({ role }) => role === 'user') + 1 : messages.length
  const start = messages.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1
  const prompts = messages
    .slice(start, end)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return prompts.flatMap((prompt, index) =>
    prompt
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(readDemoLine)
      .filter((line) => line.type !== 'fail' || index === prompts.length - 1),
  )
}

/** Where a cut count stood, so that `continue` goes on from there. */
function countedSoFar(messages: readonly RequestMessage[]): number {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return 0
  const text = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).at(-1) ?? ''
  // The last number may itself have been cut; it is told again rather than skipped.
  const whole = /(\d+),[^,]*$/.exec(text)?.[1]
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
