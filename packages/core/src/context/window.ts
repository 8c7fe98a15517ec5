import type { EventOf, EventType, Outcome, Recorded } from '@holdfast/protocol'

/** The events a request is made of. Everything else is for people. */
export const windowEvents = [
  'user.said',
  'thinking.said',
  'text.said',
  'call.requested',
] as const satisfies readonly EventType[]

export type WindowEvent = EventOf<(typeof windowEvents)[number]>

/** What the model is to see of the line: the summary of what was cut off, then the messages, each call with its outcome. */
export type Window = {
  readonly summary: string | null
  readonly messages: readonly WindowMessage[]
}

export type WindowMessage = {
  readonly seq: number
  readonly event: WindowEvent
  /** Of a call: what it came to. Missing only where a round was never closed. */
  readonly outcome: Outcome | null
}

const wanted: ReadonlySet<string> = new Set(windowEvents)
const isWindowEvent = (event: Recorded['event']): event is WindowEvent => wanted.has(event.type)

/** Joins the records of the line with the outcomes of their calls. */
export function toWindow(summary: string | null, records: readonly Recorded[], settled: readonly Recorded[]): Window {
  const outcomes = new Map<number, Outcome>()
  for (const { event } of settled) {
    // The first outcome counts: a late result after a synthetic one is on record, and not sent.
    if (event.type === 'call.settled' && !outcomes.has(event.call)) outcomes.set(event.call, event.outcome)
  }
  const messages = records.flatMap(({ seq, event }) =>
    isWindowEvent(event) ? [{ seq, event, outcome: outcomes.get(seq) ?? null }] : [],
  )
  return { summary, messages }
}
