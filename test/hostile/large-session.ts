import { createSession } from '@holdfast/client'
import type { SessionHandle } from '@holdfast/protocol'
import type { CaseRun } from './case.ts'
import { waitForRest } from './wait-for-rest.ts'

/** A prompt as large as they may be, nearly. */
export const largeText = `say nothing ${'x'.repeat(700_000)}`

/** Starts a session with messages as large as prompts may be. */
export async function startLargeSession(
  { server, workdir }: CaseRun,
  prompts: number,
  text = largeText,
): Promise<string> {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  await sendLargePrompts(started.value, prompts, text)
  return started.value.id
}

export async function sendLargePrompts(handle: SessionHandle, prompts: number, text = largeText): Promise<void> {
  const session = createSession(handle)
  for (let prompt = 0; prompt < prompts; prompt++) {
    await session.sendPrompt(text)
    await waitForRest(handle)
  }
}
