import { fault, Key, ok, parseSessionName, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { Catalogue } from '../ports/catalogue.ts'

type Finder = Pick<Catalogue, 'find' | 'entry'>

/** The one session a name stands for, in the trash or not. Nothing is touched for a name of no form. */
export async function findStored({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId>> {
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

/** The one session a name stands for, to be opened. Refused: bad_id, session_not_found, session_trashed. */
export async function findSession(finder: Finder, name: string): Promise<Result<SessionId>> {
  const id = await findStored(finder, name)
  return id.ok ? outOfTrash(finder, id.value) : id
}

/** The session an embedding program's key stands for. Refused: bad_id, session_trashed. */
export async function findByKey(finder: Finder, name: string): Promise<Result<SessionId | null>> {
  const key = Key.safeParse(name)
  if (!key.success) return refuse(fault('bad_id', 'A key is 1 to 200 characters without control characters.'))
  const [id] = await finder.find({ type: 'key', key: key.data })
  return id === undefined ? ok(null) : outOfTrash(finder, id)
}

async function outOfTrash({ entry }: Finder, id: SessionId): Promise<Result<SessionId>> {
  const row = await entry(id)
  if (row === null || row.trashedAt === null) return ok(id)
  const { handle } = row.entry.meta
  const message = `Session ${handle} is in the trash. \`holdfast trash restore ${handle}\` takes it out.`
  return refuse(fault('session_trashed', message, { session: id, handle }))
}
