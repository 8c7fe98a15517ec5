import type { Sessions } from '@holdfast/protocol'

/** Returns the handle of a session, or its id if the session cannot be read. */
export async function handleOf(sessions: Pick<Sessions, 'open'>, id: string): Promise<string> {
  const session = await sessions.open(id)
  const state = session.ok ? await session.value.state(['meta']) : session
  return state.ok ? state.value.meta.handle : id
}
