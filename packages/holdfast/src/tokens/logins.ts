import { randomBytes } from 'node:crypto'
import type { StoredToken, TokenRows } from '@holdfast/core/ports'
import { type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { createSecret, hashToken } from './token-secret.ts'
import { hasExpired, isLogin } from './tokens.ts'

/** How long a page stays logged in. */
export const loginLifeMs = 30 * 86_400_000

/** The logins of pages. Each is a row beside the tokens, so that it can be ended, also by another process. */
export interface Logins {
  /** Starts a login of a one-time link, or of a token, which it ends with. Returns its id. Refused: storage_error. */
  start(token: StoredToken | null): Promise<Result<string>>
  /** Ends a login. Its streams end at once. Refused: storage_error. */
  end(id: string): Promise<Result<null>>
}

type LoginsDeps = {
  readonly rows: TokenRows
  readonly now: () => number
  readonly onChange: () => Promise<void>
  /** Called if a login is ended and its row cannot be removed. Returns once it is refused here. */
  readonly refuseHere: (id: string) => void
}

export function createLogins({ rows, now, onChange, refuseHere }: LoginsDeps): Logins {
  return {
    async start(token) {
      const createdBy = token && `token:${token.id}`
      const room = await makeRoom(rows, createdBy, now())
      if (!room.ok) return room
      const endsMs = Math.min(now() + loginLifeMs, Date.parse(token?.expiresAt ?? '') || Number.POSITIVE_INFINITY)
      const login: StoredToken = {
        id: `log_${randomBytes(12).toString('hex')}`,
        hash: hashToken(createSecret()), // nobody has the secret: the signed cookie names the login
        name: 'login',
        role: token?.role ?? 'admin',
        session: token?.session ?? null,
        ...(token?.tenant !== undefined && { tenant: token.tenant }),
        createdAt: new Date(now()).toISOString(),
        createdBy,
        expiresAt: new Date(endsMs).toISOString(),
        lastUsedAt: null,
      }
      const added = await rows.addToken(login)
      if (!added.ok) return added
      await onChange()
      return ok(login.id)
    },

    async end(id) {
      const removed = await rows.removeToken(id)
      if (!removed.ok) {
        refuseHere(id)
        return refuse(notWritten(removed.fault))
      }
      await onChange()
      return ok(null)
    },
  }
}

/** Removes logins that have expired, and the oldest ones of the same origin above the limit. */
async function makeRoom(rows: TokenRows, createdBy: string | null, nowMs: number): Promise<Result<null>> {
  const logins = (await rows.tokens()).filter(isLogin)
  const expired = logins.filter((login) => hasExpired(login, nowMs))
  const same = logins.filter((login) => login.createdBy === createdBy && !expired.includes(login))
  for (const { id } of [...expired, ...same.slice(0, Math.max(0, same.length + 1 - limits.loginsMax))]) {
    const removed = await rows.removeToken(id)
    if (!removed.ok) return removed
  }
  return ok(null)
}

/** Returns the fault for a login that the store still has. */
const notWritten = ({ code, message, details }: Fault): Fault =>
  fault(
    code,
    `The login is refused until this program ends, but the store still has it: ${message} End it again once that is solved.`,
    details,
  )
