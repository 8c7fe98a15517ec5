import { createSession } from '@holdfast/client'
import type { CallStatus, CallView, SessionHandle } from '@holdfast/protocol'

/** Returns the tool calls of a session, oldest first. */
export async function readCalls(handle: SessionHandle): Promise<readonly CallView[]> {
  const messages = await createSession(handle).messages()
  return messages.flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
}

/** Returns what the model said in a session. */
export async function readAnswer(handle: SessionHandle): Promise<string> {
  const messages = await createSession(handle).messages()
  return messages.flatMap((one) => (one.kind === 'assistant' ? [one.text] : [])).join('')
}

/** Returns a violation unless a session has `count` calls, each with this status and with a result that has `text`. */
export async function checkCalls(
  handle: SessionHandle,
  count: number,
  status: CallStatus,
  text: string,
): Promise<readonly string[]> {
  const calls = await readCalls(handle)
  const wrong = calls.find((call) => call.status !== status || !(call.result?.text ?? '').includes(text))
  return [
    ...(calls.length === count ? [] : [`there are ${calls.length} of ${count} calls`]),
    ...(wrong ? [`a call is ${wrong.status}: ${wrong.result?.text.slice(0, 200)}`] : []),
  ]
}
