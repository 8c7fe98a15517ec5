import {
  explainIssue,
  fault,
  Handle,
  isSessionId,
  Key,
  ListOptions,
  limits,
  ok,
  type Result,
  refuse,
  type SessionId,
  type Sessions,
  StartOptions,
} from '@holdfast/protocol'
import type { Catalogue, SessionName } from '../ports/catalogue.ts'
import type { NodeRow } from '../ports/lease.ts'
import { createLocalHandle } from './local-handle.ts'
import type { Roster } from './roster.ts'

/** The sessions of this process's store. */
export function createLocalSessions(roster: Roster): Sessions {
  const { store } = roster.parts
  return {
    async start(given) {
      const options = StartOptions.safeParse(given)
      if (!options.success)
        return refuse(fault('bad_request', `Cannot start a session: ${explainIssue(options.error)}.`))
      const runner = await roster.start(options.data)
      return runner.ok ? ok(createLocalHandle(roster, runner.value.id)) : runner
    },

    async open(name) {
      const id = await findSession(store, name)
      return id.ok ? ok(createLocalHandle(roster, id.value)) : id
    },

    async list(given = {}) {
      const options = ListOptions.safeParse(given)
      if (!options.success) return refuse(fault('bad_request', `Cannot list: ${explainIssue(options.error)}.`))
      const { limit = 50, ...rest } = options.data
      const page = await store.list({ ...rest, limit: Math.min(limit, limits.listSessionsMax) })
      const sessions = await honest(page.sessions, store, roster.parts.isAlive)
      const attended = sessions.map((meta) => ({ ...meta, attachments: roster.awake(meta.id)?.hub.size ?? 0 }))
      return ok({ sessions: attended, next: page.next })
    },
  }
}

type Rows = Awaited<ReturnType<Catalogue['list']>>['sessions']

/** A list does not believe the dead: what says busy and has no living owner is shown as interrupted. */
export async function honest(
  rows: Rows,
  { nodes }: { readonly nodes: () => Promise<readonly NodeRow[]> },
  isAlive: (node: NodeRow) => Promise<boolean>,
) {
  const owners = new Set(rows.flatMap(({ busy, owner }) => (busy && owner !== null ? [owner] : [])))
  const known = owners.size === 0 ? [] : await nodes()
  const living = new Set<string>()
  for (const node of known) if (owners.has(node.id) && (await isAlive(node))) living.add(node.id)
  return rows.map(({ meta, busy, owner }) =>
    busy && (owner === null || !living.has(owner)) ? { ...meta, status: 'interrupted' as const } : meta,
  )
}

/** The one session a name stands for: an id, a unique prefix of one, a handle. Nothing is touched for a name of no form. */
export async function findSession({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId>> {
  const asked = readName(name)
  if (!asked) {
    const message = 'A session is named by its id (ses_…), the beginning of one, or its handle (calm-harbor-12).'
    return refuse(fault('bad_id', message, { name: name.slice(0, 100) }))
  }
  const found = await find(asked)
  const [id, another] = found
  if (!id) return refuse(fault('session_not_found', `There is no session ${name}.`, { name }))
  if (another)
    return refuse(
      fault('bad_id', `${name} fits ${found.length} sessions or more; write more of it.`, { name, fits: [...found] }),
    )
  return ok(id)
}

function readName(name: string): SessionName | null {
  if (isSessionId(name)) return { type: 'id', id: name }
  if (/^ses_[0-9a-hjkmnp-tv-z]{1,25}$/.test(name)) return { type: 'prefix', prefix: name }
  const handle = Handle.safeParse(name)
  return handle.success ? { type: 'handle', handle: handle.data } : null
}

/** The session an embedding program's key stands for. */
export async function findByKey({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId | null>> {
  const key = Key.safeParse(name)
  if (!key.success) return refuse(fault('bad_id', 'A key is 1 to 200 characters without control characters.'))
  return ok((await find({ type: 'key', key: key.data }))[0] ?? null)
}
