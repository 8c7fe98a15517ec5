import { type Outcome, outcomeOutput } from '../event/call.ts'
import type { Event, EventOf } from '../event/event.ts'
import type { Content } from '../value/content.ts'
import { limits } from '../value/limits.ts'
import { isTextType } from '../value/media-type.ts'
import { addUsage, noUsage, type Spent, type Usage } from '../value/usage.ts'
import { spentBy } from './sum-spent.ts'

const charsPerToken = 4
/** Overhead of a message. */
const messageTokens = 4
/** What providers charge for an image of the recommended size. */
const imageTokens = 1600

/** Estimates the tokens of a text, the same for every model. Good enough to know when a context is full. */
export const textTokens = (text: string): number => Math.ceil(text.length / charsPerToken) + messageTokens

type FileSize = Pick<Extract<Content[number], { type: 'file' }>, 'mediaType' | 'bytes'>

export const fileTokens = ({ mediaType, bytes }: FileSize): number =>
  isTextType(mediaType) ? Math.ceil(Math.min(bytes, limits.textFileBytesMax) / charsPerToken) : imageTokens

const contentTokens = (content: Content): number =>
  content.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : fileTokens(part)), 0)

/** Estimates the tokens of the result of a call. */
export function outcomeTokens(outcome: Outcome): number {
  const { text, fileParts = [] } = outcomeOutput(outcome)
  return fileParts.reduce((sum, file) => sum + fileTokens(file), textTokens(text))
}

/** Arguments have up to a megabyte, and every fold of their event counts them. */
const countedArgs = new WeakMap<object, number>()

/** Estimates the tokens of the arguments of a call. Encodes the same arguments only once. */
function argsTokens(args: EventOf<'call.requested'>['args']): number {
  const tokens = countedArgs.get(args) ?? textTokens(JSON.stringify(args))
  countedArgs.set(args, tokens)
  return tokens
}

/** Estimates the tokens an event adds to the context; 0 if it is not sent to the model. */
export function eventTokens(event: Event): number {
  switch (event.type) {
    case 'user.said':
      return contentTokens(event.content) + (event.context === undefined ? 0 : textTokens(event.context))
    case 'thinking.said':
    case 'text.said':
      return textTokens(event.text)
    case 'call.requested':
      return textTokens(event.tool) + argsTokens(event.args)
    case 'call.settled':
      return outcomeTokens(event.outcome)
    case 'note.added':
      return event.told ? textTokens(event.text) : 0
    default:
      return 0
  }
}

/** Returns the context size after `event`. The provider's own count replaces the estimate. */
export function tokensAfter(tokens: number, event: Event): number {
  switch (event.type) {
    case 'step.ended':
      return countedTokens(event) ?? tokens
    case 'line.moved':
    case 'checkpoint.undone':
      return event.tokens
    case 'checkpoint.written':
      return event.tokensAfter
    case 'session.started':
      return event.fork?.tokens ?? tokens
    default:
      return tokens + eventTokens(event)
  }
}

/** Whether the context size is an estimate: true once anything is added to what the provider counted. */
export function isEstimateAfter(isEstimate: boolean, event: Event): boolean {
  switch (event.type) {
    case 'step.ended':
      return countedTokens(event) === null && isEstimate
    case 'line.moved':
    case 'checkpoint.undone':
    case 'checkpoint.written':
    case 'session.started':
      return true
    default:
      return isEstimate || eventTokens(event) > 0
  }
}

/** Returns the input and output tokens the provider counted; null when it did not. */
function countedTokens({ usage }: EventOf<'step.ended'>): number | null {
  const input = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0
  return usage && input > 0 ? input + usage.output : null
}

/** Adds the usage of an event. Every model call counts, also those that wrote a summary or a title. */
export function usageAfter(used: Usage, event: Event): Usage {
  const usage = usageOf(event)
  if (usage) return addUsage(used, usage)
  return usage === null && isAnswered(event) ? { ...used, cost: null } : used
}

/** Adds the usage of an event for budgets: estimated when the provider reported none, an unknown cost as 0. */
export function spentAfter(spent: Usage, event: Event): Usage {
  const usage = usageOf(event) ?? (event.type === 'step.ended' ? event.estimate : undefined)
  return usage ? addUsage(spent, { ...usage, cost: usage.cost ?? 0 }) : spent
}

/** Returns what the model call of an event has cost, for caps; null if it called no model. */
export function spentOf(event: Event): Spent | null {
  const usage = usageOf(event) ?? (event.type === 'step.ended' ? event.estimate : undefined)
  if (usage) return spentBy(usage)
  return usageOf(event) === null && isAnswered(event) ? spentBy(null) : null
}

/** Whether a model call was answered, and so cost something even if no usage is known. */
const isAnswered = (event: Event): boolean => event.type !== 'step.ended' || answeredBy.has(event.finish)
const answeredBy: ReadonlySet<string> = new Set(['stop', 'calls', 'length', 'refused'])

/** The events that can report a model call. */
export const modelCallEvents = ['step.ended', 'checkpoint.written', 'summary.saved', 'settings.changed'] as const

/** Returns the usage an event reports: null when unknown, undefined when no model was called. */
export function usageOf(event: Event): Usage | null | undefined {
  switch (event.type) {
    case 'step.ended':
    case 'checkpoint.written':
    case 'summary.saved':
      return event.usage
    case 'settings.changed':
      return event.named?.usage
    default:
      return undefined
  }
}

/** Returns the usage of the current or last turn after `event`. Continuing a turn keeps counting. */
export function turnUsageAfter(used: Usage | null, event: Event, isRunning: boolean): Usage | null {
  if (event.type === 'turn.started') return event.cause === 'continue' ? used : noUsage
  if (event.type === 'line.moved') return null
  return isRunning && used ? usageAfter(used, event) : used
}
