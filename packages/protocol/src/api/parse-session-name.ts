import { fault } from '../value/fault.ts'
import { Handle, SessionId } from '../value/id.ts'
import { ok, type Result, refuse } from '../value/result.ts'

/** The three ways to name a session. */
export type SessionName =
  | { readonly type: 'id'; readonly id: SessionId }
  | { readonly type: 'prefix'; readonly prefix: string }
  | { readonly type: 'handle'; readonly handle: Handle }

const prefix = /^ses_[0-9a-hjkmnp-tv-z]{1,25}$/

/** Parses a session name by its form alone. Nothing that passes can be a file path. */
export function parseSessionName(text: string): Result<SessionName> {
  const id = SessionId.safeParse(text)
  if (id.success) return ok({ type: 'id', id: id.data })
  if (prefix.test(text)) return ok({ type: 'prefix', prefix: text })
  const handle = Handle.safeParse(text)
  if (handle.success) return ok({ type: 'handle', handle: handle.data })
  // Callers are not always type-checked, so `text` may not be a string.
  const message = 'Name a session by its id (ses_…), the beginning of its id, or its handle (calm-harbor-12).'
  return refuse(fault('bad_id', message, { name: String(text).slice(0, 100) }))
}
