import { fault } from '../value/fault.ts'
import { Handle, Key, SessionId } from '../value/id.ts'
import { ok, type Result, refuse } from '../value/result.ts'

/** The ways to name a session. */
export type SessionName =
  | { readonly type: 'id'; readonly id: SessionId }
  | { readonly type: 'prefix'; readonly prefix: string }
  | { readonly type: 'handle'; readonly handle: Handle }
  | { readonly type: 'key'; readonly key: Key }

const prefix = /^ses_[0-9a-hjkmnp-tv-z]{1,25}$/

/** The keys that can stand for a session, like ids of other programs: `20260102-030405-aa`, `support`, `telegram:1`. */
const nameLike = /^(?!ses_)[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$/
/** Names of devices on some systems. No session is called so: programs use names of sessions for files. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:[.]|$)/i

/** Parses a session name by its form alone. Nothing that passes can be a file path. */
export function parseSessionName(text: string): Result<SessionName> {
  const notAName = () => {
    const message = 'Name a session by its id (ses_…), the beginning of its id, its handle (calm-harbor-12) or its key.'
    return refuse(fault('bad_id', message, { name: String(text).slice(0, 100) }))
  }
  if (typeof text !== 'string') return notAName() // callers are not always type-checked
  const id = SessionId.safeParse(text)
  if (id.success) return ok({ type: 'id', id: id.data })
  if (prefix.test(text)) return ok({ type: 'prefix', prefix: text })
  const handle = Handle.safeParse(text)
  if (handle.success) return ok({ type: 'handle', handle: handle.data })
  const key = nameLike.test(text) && !deviceName.test(text) ? Key.safeParse(text) : null
  if (key?.success) return ok({ type: 'key', key: key.data })
  return notAName()
}
