import { explainIssue, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { type ConversationMessage, readMessage } from './message.ts'
import type { Operation } from './operation.ts'

export function readAdd(given: unknown): Result<Operation> {
  const message = readMessage(given)
  return message.ok ? ok({ type: 'add', ...message.value }) : message
}

export function readSet(given: unknown): Result<Operation> {
  if (!Array.isArray(given)) return refuse(fault('bad_request', 'A history is a list of messages.'))
  const messagesMax = limits.seedMessagesMax
  if (given.length > messagesMax) {
    const text = `A history is set with at most ${messagesMax} messages. Set the first ones, then add the others.`
    return refuse(fault('too_large', text, { messages: given.length, messagesMax }))
  }
  const messages: ConversationMessage[] = []
  let chars = 0
  for (const one of given) {
    const read = readMessage(one)
    if (!read.ok) return read
    messages.push(read.value.message)
    chars += read.value.chars
  }
  return ok({ type: 'set', messages, chars })
}

const Count = z.int()

/** Less than none is none. */
export function readTruncate(given: unknown): Result<Operation> {
  const count = Count.safeParse(given)
  if (!count.success) return refuse(fault('bad_request', `How many messages to keep: ${explainIssue(count.error)}.`))
  return ok({ type: 'truncate', keepLast: Math.max(count.data, 0), chars: 0 })
}

const Summary = z.string().max(limits.promptBytesMax)

export function readSummary(given: unknown): Result<Operation> {
  const summary = Summary.safeParse(given)
  if (!summary.success) return refuse(fault('bad_request', `This is no summary: ${explainIssue(summary.error)}.`))
  return ok({ type: 'summary', summary: summary.data, chars: summary.data.length })
}
