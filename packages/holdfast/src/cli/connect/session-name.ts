import {
  clip,
  escapeLine,
  type Fault,
  fault,
  limits,
  type Meta,
  ok,
  parseSessionName,
  type Result,
  refuse,
  type SessionHandle,
  type Sessions,
} from '@holdfast/protocol'
import { nearest } from '@holdfast/protocol/nearest'
import { decodeListed } from '../../store/sqlite/read/read-methods.ts'
import { openReader } from '../../store/sqlite/read/reader.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { resolveDiskStore } from './resolve-store.ts'
import { resolveWorkspace } from './workspace.ts'

/** The name of the session of this workspace with the latest message. */
export const latest = '@latest'

/** Rejects a malformed name before anything is looked up, and suggests the name that was likely meant. */
export function checkName(context: Pick<CliContext, 'home' | 'store'>, name: string): Result<null> {
  const parsed = name === latest ? ok(null) : parseSessionName(name)
  // A key of letters alone may be a mistyped handle or @latest.
  const isSure = parsed.ok && (parsed.value?.type !== 'key' || /[0-9:]/.test(name))
  if (isSure) return ok(null)
  const { handles, keys } = readStoredNames(context)
  if (parsed.ok && keys.includes(name)) return ok(null)
  const near = nearest(name, [latest, ...handles])
  if (parsed.ok && near === null) return ok(null)
  const { code, details } = parsed.ok ? fault('bad_id', '', { name }) : parsed.fault
  const hint = near === null ? nameForms : `Did you mean '${near}'?`
  const message = `'${escapeLine(clip(name, 100))}' is not a session name. ${hint}`
  return refuse(fault(code, message, { ...details, ...(near !== null && { nearest: near }) }))
}

const nameForms =
  'Use an id (ses_…), the beginning of one, a handle (calm-harbor-12) or @latest. holdfast ls lists the sessions.'

const noNames = { handles: [], keys: [] }

/** Reads the newest handles and keys of a SQLite store, for suggestions. Other stores are too slow to ask for this. */
function readStoredNames(context: Pick<CliContext, 'home' | 'store'>): {
  readonly handles: readonly string[]
  readonly keys: readonly (string | undefined)[]
} {
  const store = resolveDiskStore(context)
  if (!store.ok || store.value.kind !== 'sqlite') return noNames
  const reader = openReader(store.value.path)
  if (!reader.ok || reader.value === null) return noNames
  const list = reader.value.ask('list', { limit: limits.listSessionsMax })
  reader.value.close()
  if (!list.ok) return noNames
  const metas = list.value.sessions.map((row) => decodeListed(row).meta)
  return { handles: metas.map(({ handle }) => handle), keys: metas.map(({ key }) => key) }
}

export const noLatest = (workspace: string): Fault =>
  fault('session_not_found', `There is no session in ${workspace} yet. Start one with holdfast run.`, { workspace })

/** Opens the session with this name, here or on the server. */
export async function openNamed(sessions: Sessions, context: CliContext, name: string): Promise<Result<SessionHandle>> {
  if (name !== latest) return withSuggestion(await sessions.open(name), name, () => listHandles(sessions))
  const workspace = resolveWorkspace(context)
  if (!workspace.ok) return workspace
  const newest = await findLatest(sessions, workspace.value)
  if (!newest.ok) return newest
  return newest.value === null ? refuse(noLatest(workspace.value)) : sessions.open(newest.value.id)
}

/** Finds the session with the latest message. A list starts with pinned sessions, so those are asked for separately. */
async function findLatest(sessions: Sessions, workspace: string): Promise<Result<Meta | null>> {
  const [pinned, rest] = await Promise.all([
    sessions.list({ workspace, pinned: true, limit: 1 }),
    sessions.list({ workspace, pinned: false, limit: 1 }),
  ])
  if (!pinned.ok) return pinned
  if (!rest.ok) return rest
  const [one, other] = [pinned.value.sessions[0], rest.value.sessions[0]]
  if (!one || !other) return ok(one ?? other ?? null)
  return ok(one.lastMessageAt > other.lastMessageAt ? one : other)
}

/** Adds the most similar handle to the fault if no session has the name. */
export async function withSuggestion<Value>(
  found: Result<Value>,
  name: string,
  handles: () => Promise<readonly string[]>,
): Promise<Result<Value>> {
  if (found.ok || found.fault.code !== 'session_not_found') return found
  const near = nearest(name, await handles())
  if (near === null) return found
  const { code, details } = found.fault
  return refuse(fault(code, `There is no session ${name}. Did you mean '${near}'?`, { ...details, nearest: near }))
}

async function listHandles(sessions: Sessions): Promise<readonly string[]> {
  const list = await sessions.list({ limit: limits.listSessionsMax })
  return list.ok ? list.value.sessions.map(({ handle }) => handle) : []
}
