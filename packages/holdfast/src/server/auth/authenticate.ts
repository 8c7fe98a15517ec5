import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'

/** What a token allows: send commands, only read, or everything. */
export type TokenRole = 'driver' | 'viewer' | 'admin'

/** A token as the server stores it: its SHA-256 in hex, never the token itself. */
export type AccessToken = { readonly hash: string; readonly role: TokenRole }

/** Returns a secret of 256 bits, safe in a header, a cookie and a URL. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Returns the part of a token to store: it cannot be used as the token. */
export const hashToken = (token: string): string => digest(token).toString('hex')

/** Compares digests, which have a fixed length, so the time taken reveals nothing about the secret. */
export const isSameSecret = (sent: string, known: Buffer): boolean => timingSafeEqual(digest(sent), known)

/** Returns the role of a token, or null if it is unknown. Compares with every known token, to take the same time. */
export function findTokenRole(tokens: readonly AccessToken[], sent: string): TokenRole | null {
  const sentDigest = hash('sha256', sent, 'buffer')
  let found: TokenRole | null = null
  for (const token of tokens) {
    const known = Buffer.from(token.hash, 'hex')
    if (known.length === 32 && timingSafeEqual(sentDigest, known)) found = token.role
  }
  return found
}

export type AuthenticateDeps = {
  readonly tokens: readonly AccessToken[]
  readonly cookie: { isValid(header: string | null): boolean }
  readonly attempts: FailedAttempts
}

/** Returns the caller's role, by bearer token or by the page's cookie. A token in a URL is ignored. */
export function authenticate(
  { tokens, cookie, attempts }: AuthenticateDeps,
  { method, headers }: Request,
  remote: string,
): Result<TokenRole> {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    const role = findTokenRole(tokens, /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '')
    return role === null ? attempts.refuse(remote, 'Unknown token.') : ok(role)
  }
  // Not counted as a failed attempt: every open page sends an outdated cookie after a restart.
  if (!cookie.isValid(headers.get('cookie')))
    return refuse(fault('unauthorized', 'Send a token as `Authorization: Bearer …`, or open the login link.'))
  if (isSameOrigin(method, headers.get('sec-fetch-site'), headers.get('origin'))) return ok('admin')
  return refuse(fault('wrong_origin', 'The login cookie works only from the page itself.'))
}

/**
 * SameSite=Strict still sends our cookie from another port of this machine, so the browser's own headers decide. The
 * Origin was checked before. Without both headers a read is allowed: another origin cannot see the answer.
 */
function isSameOrigin(method: string, site: string | null, origin: string | null): boolean {
  if (site !== null) return site === 'same-origin' || (site === 'none' && method === 'GET')
  return origin !== null || method === 'GET'
}

const attemptsMax = 10
const windowMs = 60_000
const remotesMax = 1024

/** Limits failed logins to ten a minute per remote address. A valid token is never blocked. */
export interface FailedAttempts {
  /** Counts a failed attempt and refuses it: with 401, or with 429 above the limit. */
  refuse(remote: string, message: string): Result<never>
}

export function createFailedAttempts({ now }: { readonly now: () => number }): FailedAttempts {
  const windows = new Map<string, { readonly until: number; count: number }>()

  return {
    refuse(remote, message) {
      const known = windows.get(remote)
      if (known === undefined || known.until <= now()) {
        // Clearing everything helps no attacker: someone with this many addresses is not limited anyway.
        if (windows.size >= remotesMax) windows.clear()
        windows.set(remote, { until: now() + windowMs, count: 1 })
      } else if (++known.count > attemptsMax) {
        const retryAfterSeconds = Math.ceil((known.until - now()) / 1000)
        return refuse(fault('too_many_tries', 'Too many failed attempts. Wait a minute.', { retryAfterSeconds }))
      }
      return refuse(fault('unauthorized', message))
    },
  }
}
