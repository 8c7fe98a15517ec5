import { explainIssue, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { type ConversationMessage, parseMessage } from './message.ts'

/** A change of a conversation. Reads include changes that are not written yet. */
export type Operation = {
  /** Its approximate size in memory. */
  readonly chars: number
} & (
  | { readonly type: 'add'; readonly message: ConversationMessage }
  | { readonly type: 'set'; readonly messages: readonly ConversationMessage[] }
  | { readonly type: 'truncate'; readonly keepLast: number }
  | { readonly type: 'summary'; readonly summary: string }
)

/** Returns the history after the operations. */
export function applyOperations(
  history: readonly ConversationMessage[],
  operations: readonly Operation[],
): readonly ConversationMessage[] {
  let now = [...history]
  for (const operation of operations) {
    if (operation.type === 'add') now.push(operation.message)
    if (operation.type === 'set') now = [...operation.messages]
    if (operation.type === 'truncate') now = operation.keepLast === 0 ? [] : now.slice(-operation.keepLast)
  }
  return now
}

/** Returns the summary after the operations. */
export const applySummary = (summary: string, operations: readonly Operation[]): string =>
  operations.reduce((now, operation) => (operation.type === 'summary' ? operation.summary : now), summary)

export function parseAdd(given: unknown): Result<Operation> {
  const message = parseMessage(given)
  return message.ok ? ok({ type: 'add', ...message.value }) : message
}

export function parseSet(given: unknown): Result<Operation> {
  if (!Array.isArray(given)) return refuse(fault('bad_request', 'A history must be a list of messages.'))
  const messagesMax = limits.seedMessagesMax
  if (given.length > messagesMax) {
    const text = `A history may have at most ${messagesMax} messages. Set the first ones, then add the others.`
    return refuse(fault('too_large', text, { messages: given.length, messagesMax }))
  }
  const messages: ConversationMessage[] = []
  let chars = 0
  for (const value of given) {
    const read = parseMessage(value)
    if (!read.ok) return read
    messages.push(read.value.message)
    chars += read.value.chars
  }
  return ok({ type: 'set', messages, chars })
}

const Count = z.int()

/** Treats a negative count as zero. */
export function parseTruncate(given: unknown): Result<Operation> {
  const count = Count.safeParse(given)
  if (!count.success) return refuse(fault('bad_request', `keepLast is not valid: ${explainIssue(count.error)}.`))
  return ok({ type: 'truncate', keepLast: Math.max(count.data, 0), chars: 0 })
}

const Summary = z.string().max(limits.promptBytesMax)

export function parseSummary(given: unknown): Result<Operation> {
  const summary = Summary.safeParse(given)
  if (!summary.success) return refuse(fault('bad_request', `This is not a summary: ${explainIssue(summary.error)}.`))
  return ok({ type: 'summary', summary: summary.data, chars: summary.data.length })
}
