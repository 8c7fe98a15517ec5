import { fault } from '../value/fault.ts'
import { Handle, SessionId } from '../value/id.ts'
import { ok, type Result, refuse } from '../value/result.ts'

/** What a text may name a session by. */
export type SessionName =
  | { readonly type: 'id'; readonly id: SessionId }
  | { readonly type: 'prefix'; readonly prefix: string }
  | { readonly type: 'handle'; readonly handle: Handle }

const prefix = /^ses_[0-9a-hjkmnp-tv-z]{1,25}$/

/** A name by its form alone, before anything is looked up or touched: nothing that passes means anything to a file system. */
export function parseSessionName(text: string): Result<SessionName> {
  const id = SessionId.safeParse(text)
  if (id.success) return ok({ type: 'id', id: id.data })
  if (prefix.test(text)) return ok({ type: 'prefix', prefix: text })
  const handle = Handle.safeParse(text)
  if (handle.success) return ok({ type: 'handle', handle: handle.data })
  // Not every program that calls is type-checked: what is no text is no name either.
  const message = 'A session is named by its id (ses_…), the beginning of one, or its handle (calm-harbor-12).'
  return refuse(fault('bad_id', message, { name: String(text).slice(0, 100) }))
}
