import { orThrow, type SessionHandle, type Sessions, type StartOptions } from '@holdfast/protocol'
import { talkTo } from './talk.ts'

/** Starts a session in which someone has spoken and been answered. */
export async function spokenIn(sessions: Sessions, start: Partial<StartOptions> = {}): Promise<SessionHandle> {
  const handle = orThrow(await sessions.start({ workdir: '/work', ...start }))
  await talkTo(handle).ask('Hello')
  return handle
}
