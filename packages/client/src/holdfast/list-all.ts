import { type ListOptions, limits, type Meta, orThrow, type Sessions } from '@holdfast/protocol'
import { requireOptions } from '../session/arguments.ts'

/** Which sessions to list; all of them are listed, so there is no limit and no cursor. */
export type ListAllOptions = Omit<ListOptions, 'limit' | 'cursor'>

/** Lists all sessions, page by page as the caller reads them: pinned ones first, then by latest message. */
export async function* listAll(
  sessions: Pick<Sessions, 'list'>,
  given?: ListAllOptions,
): AsyncGenerator<Meta, void, undefined> {
  const options = requireOptions(given)
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = orThrow(await sessions.list({ ...options, limit: limits.listSessionsMax, cursor }))
    yield* page.sessions
    cursor = page.next
  }
}
