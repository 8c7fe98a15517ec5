import type { AnswerPart, CallResult, ImportedMessage, Remark } from '../parse/conversation.ts'

type Call = Extract<AnswerPart, { type: 'call' }>

/**
 * What each call of a line came to. A result answers the oldest open call with its id; one that answers none, or a call
 * that has its answer, is left out. A call without one was interrupted.
 */
export function pairCalls(line: readonly ImportedMessage[], remark: Remark): ReadonlyMap<Call, CallResult> {
  const open = new Map<string, { readonly call: Call; readonly line: number; readonly round: number }[]>()
  const paired = new Map<Call, CallResult>()
  let round = 0
  for (const message of line) {
    if (message.role === 'user') round++
    if (message.role === 'assistant') {
      round++
      for (const part of message.parts) {
        if (part.type !== 'call') continue
        const waiting = open.get(part.id)
        const one = { call: part, line: message.line, round }
        if (waiting) waiting.push(one)
        else open.set(part.id, [one])
      }
    }
    if (message.role !== 'result') continue
    const answered = open.get(message.callId)?.shift()
    if (answered === undefined) {
      remark(message.line, 'orphan_result', 'A result that answers no call was left out.')
      continue
    }
    if (answered.round !== round) remark(message.line, 'late_result', 'A late result was put to its call.')
    paired.set(answered.call, message)
  }
  for (const waiting of open.values())
    for (const { call, line: at } of waiting)
      remark(at, 'orphan_call', `The call of ${call.tool || 'a tool'} never got a result; it is now interrupted.`)
  return paired
}
