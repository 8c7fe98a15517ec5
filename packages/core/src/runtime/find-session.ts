import { fault, Key, ok, parseSessionName, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { Catalogue } from '../ports/catalogue.ts'

/** The one session a name stands for. Nothing is touched for a name of no form. */
export async function findSession({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId>> {
  const asked = parseSessionName(name)
  if (!asked.ok) return asked
  const found = await find(asked.value)
  const [id, another] = found
  if (!id) return refuse(fault('session_not_found', `There is no session ${name}.`, { name }))
  if (another)
    return refuse(
      fault('bad_id', `${name} fits ${found.length} sessions or more; write more of it.`, { name, fits: [...found] }),
    )
  return ok(id)
}

/** The session an embedding program's key stands for. */
export async function findByKey({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId | null>> {
  const key = Key.safeParse(name)
  if (!key.success) return refuse(fault('bad_id', 'A key is 1 to 200 characters without control characters.'))
  return ok((await find({ type: 'key', key: key.data }))[0] ?? null)
}
