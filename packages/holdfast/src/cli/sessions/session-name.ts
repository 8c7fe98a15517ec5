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
import type { CliContext } from '../context/cli-context.ts'
import { storedHandles } from './stored-handles.ts'
import { workspaceOf } from './workspace.ts'

/** The name of the session of this workspace in which someone spoke last. */
export const latest = '@latest'

/**
 * Whether a name has the form of one. Asked before anything is looked up: a name of no form gets nowhere, and is told
 * which one was likely meant.
 */
export function checkName(place: Pick<CliContext, 'home' | 'store'>, name: string): Result<null> {
  const form = name === latest ? ok(null) : parseSessionName(name)
  if (form.ok) return ok(null)
  const { code, details } = form.fault
  const near = nearest(name, [latest, ...storedHandles(place)])
  const hint = near === null ? howToName : `Did you mean '${near}'?`
  const message = `'${escapeLine(clip(name, 100))}' names no session. ${hint}`
  return refuse(fault(code, message, { ...details, ...(near !== null && { nearest: near }) }))
}

const howToName =
  'A session is named by its id (ses_…), the beginning of one, its handle (calm-harbor-12) or @latest; holdfast ls lists them.'

export const noSession = (name: string): Result<never> =>
  refuse(fault('session_not_found', `There is no session ${name}.`, { name }))

export const noneYet = (workspace: string): Fault =>
  fault('session_not_found', `There is no session in ${workspace} yet.`, { workspace })

/** Opens the session a person named, here or on the server. */
export async function openNamed(sessions: Sessions, place: CliContext, name: string): Promise<Result<SessionHandle>> {
  if (name !== latest) return suggested(await sessions.open(name), name, () => handlesOf(sessions))
  const workspace = workspaceOf(place)
  if (!workspace.ok) return workspace
  const newest = await findLatest(sessions, workspace.value)
  if (!newest.ok) return newest
  return newest.value === null ? refuse(noneYet(workspace.value)) : sessions.open(newest.value.id)
}

/** The session in which someone spoke last. A list begins with what is pinned, so that is asked for by itself. */
async function findLatest(sessions: Sessions, workspace: string): Promise<Result<Meta | null>> {
  const [pinned, rest] = await Promise.all(
    [true, false].map((isPinned) => sessions.list({ workspace, pinned: isPinned, limit: 1 })),
  )
  if (!pinned?.ok) return pinned ?? ok(null)
  if (!rest?.ok) return rest ?? ok(null)
  const [one, other] = [pinned.value.sessions[0], rest.value.sessions[0]]
  if (!one || !other) return ok(one ?? other ?? null)
  return ok(one.lastMessageAt > other.lastMessageAt ? one : other)
}

/** Where there is no such session, the refusal also names the one most likely meant. */
export async function suggested<Value>(
  found: Result<Value>,
  name: string,
  handles: () => Promise<readonly string[]>,
): Promise<Result<Value>> {
  if (found.ok || found.fault.code !== 'session_not_found') return found
  const near = nearest(name, await handles())
  if (near === null) return found
  const { code, message, details } = found.fault
  return refuse(fault(code, `${message} Did you mean '${near}'?`, { ...details, nearest: near }))
}

async function handlesOf(sessions: Sessions): Promise<readonly string[]> {
  const list = await sessions.list({ limit: limits.listSessionsMax })
  return list.ok ? list.value.sessions.map(({ handle }) => handle) : []
}
