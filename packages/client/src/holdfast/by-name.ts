import { orThrow, type Result, type SessionHandle, type Sessions } from '@holdfast/protocol'

/** Calls `work` with the name of a session, or with the id of the session that has this name as its key. A key may have any form. */
export async function byName<Value>(
  sessions: Pick<Sessions, 'findByKey'>,
  name: string,
  work: (name: string) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const done = await work(name)
  if (done.ok || !isNoSession(done.fault.code)) return done
  const id = await findIdByKey(sessions, name)
  return id === null ? done : work(id)
}

/** Finds a session by its name or key, to use it. Throws bad_id, session_not_found, session_trashed. */
export const findNamed = async (sessions: Sessions, name: string): Promise<SessionHandle> =>
  orThrow(await byName(sessions, name, (asked) => sessions.open(asked)))

const isNoSession = (code: string): boolean => code === 'bad_id' || code === 'session_not_found'

/** Returns the id of the session with a key, also of one in the trash; null if there is none. */
export async function findIdByKey(sessions: Pick<Sessions, 'findByKey'>, key: string): Promise<string | null> {
  const found = await sessions.findByKey(key)
  if (found.ok) return found.value?.id ?? null
  const { code, details } = found.fault
  if (code !== 'session_trashed') return isNoSession(code) ? null : orThrow(found)
  return typeof details?.['session'] === 'string' ? details['session'] : null
}
