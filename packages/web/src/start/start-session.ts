import { type ContentPart, ok, type Result, type SessionId, type Sessions } from '@holdfast/protocol'
import type { StartWish } from './start-options.tsx'

export type StartRequest = StartWish & {
  /** Empty for the folder where the server was started. */
  readonly workdir: string
  readonly text: string
  readonly files: readonly ContentPart[]
}

/** Starts a session and sends the first prompt. A session without a message is not kept. */
export async function startSession(sessions: Sessions, request: StartRequest): Promise<Result<SessionId>> {
  const { model, thinkingLevel, mode, permission, text, files } = request
  const workdir = request.workdir.trim()
  const started = await sessions.start({
    ...(workdir !== '' && { workdir }),
    ...(model !== null && { model }),
    ...(thinkingLevel !== 'off' && { thinkingLevel }),
    ...(mode !== 'exec' && { mode }),
    ...(permission === 'readOnly' ? { readOnly: true } : permission !== 'destructive' && { approvals: permission }),
  })
  if (!started.ok) return started
  const { id } = started.value
  if (text.trim() === '' && files.length === 0) return ok(id)
  const content =
    files.length === 0 ? text : [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...files]
  const prompted = await started.value.submit({ type: 'sendPrompt', content })
  return prompted.ok ? ok(id) : prompted
}
