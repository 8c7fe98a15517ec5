import { timingSafeEqual } from 'node:crypto'
import { fault, ok, type Result, refuse, type SessionId, type TokenRole } from '@holdfast/protocol'
import type { LiveTokens } from '../../tokens/live-tokens.ts'
import { digest, secretOf } from '../../tokens/token-secret.ts'
import { isShareLink, type LoginCookie } from './login.ts'

/** A token that the program was started with: its SHA-256 in hex, never the token itself. */
export type AccessToken = { readonly hash: string; readonly role: TokenRole }

/** Who calls: a token or a login of the page, by an id that reveals no secret, and what it may do. */
export type Caller = {
  readonly id: string
  readonly role: TokenRole
  /** The only session it may see; null for all sessions. */
  readonly session: SessionId | null
  /** The only tenant whose sessions and tokens it may see; null for all. */
  readonly tenant: string | null
  /** The stored token it depends on; null for a login and for a token that the program was started with. */
  readonly token: string | null
  /** The stored login of a page that it depends on; null for a token and for a share link. */
  readonly login: string | null
  readonly expiresAt: string | null
}

const callerIdChars = 16

export type AuthenticateDeps = {
  /** The tokens that the program was started with. */
  readonly tokens: readonly AccessToken[]
  /** The tokens of the store; null for a server without them. */
  readonly storedTokens: LiveTokens | null
  readonly cookie: Pick<LoginCookie, 'loginsOf'>
  readonly attempts: ReturnType<typeof createFailedAttempts>
}

const unbound = { session: null, tenant: null, token: null, login: null, expiresAt: null } as const

/** One message for all three cases, so that a caller cannot tell which tokens exist. It says what to do about an old token. */
const unknownToken =
  'This token is unknown, was revoked or has expired. Ask an admin of the server for another: holdfast token create.'

/** Returns the caller, by bearer token or by the page's cookie. A token in a URL is ignored. */
export async function authenticate(
  { tokens, storedTokens, cookie, attempts }: AuthenticateDeps,
  { method, headers }: Request,
  remote: string,
): Promise<Result<Caller>> {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    const sent = secretOf(authorization)
    const caller = findGiven(tokens, sent) ?? callerOf((await storedTokens?.find(sent)) ?? null)
    return caller === null ? attempts.refuse(remote, unknownToken) : ok(caller)
  }
  const caller = await findLogin(storedTokens, cookie.loginsOf(headers.get('cookie')))
  // Not counted as a failed attempt: every open page sends an outdated cookie after a restart.
  if (caller === null)
    return refuse(fault('unauthorized', 'Send a token as `Authorization: Bearer …`, or log in: `holdfast login`.'))
  if (isSameOrigin(method, headers.get('sec-fetch-site'), headers.get('origin'))) return ok(caller)
  return refuse(fault('wrong_origin', 'The login cookie works only from the page itself.'))
}

/** Compares with every token that the program was started with, to take the same time. */
function findGiven(tokens: readonly AccessToken[], secret: string): Caller | null {
  const sent = digest(secret)
  let caller: Caller | null = null
  for (const { hash, role } of tokens) {
    const known = Buffer.from(hash, 'hex')
    if (known.length === 32 && timingSafeEqual(sent, known))
      caller = { id: `token:${hash.slice(0, callerIdChars)}`, role, ...unbound }
  }
  return caller
}

type FoundToken = Awaited<ReturnType<LiveTokens['get']>>

/** Returns the caller that a stored token stands for. All its screens are one person. */
export const callerOf = (token: FoundToken): Caller | null =>
  token && {
    id: `token:${token.id}`,
    role: token.role,
    session: token.session,
    token: token.id,
    login: null,
    tenant: token.tenant ?? null,
    expiresAt: token.expiresAt,
  }

/** Returns the caller of the first cookie that still counts: one that logged out, or of a revoked token, does not. */
async function findLogin(
  storedTokens: LiveTokens | null,
  logins: ReturnType<LoginCookie['loginsOf']>,
): Promise<Caller | null> {
  for (const { login, token } of logins) {
    // Without a store there is nothing to end a login with.
    const stored = storedTokens && (await storedTokens.get(login))
    if (token === null) {
      if (storedTokens && !stored) continue
      return { id: `login:${login}`, role: 'admin', ...unbound, login: stored?.id ?? null }
    }
    const origin = (await storedTokens?.get(token)) ?? null
    const caller = callerOf(origin)
    if (caller && stored) return { ...caller, login }
    if (caller && origin && isShareLink(origin)) return caller
  }
  return null
}

type Watched = ReturnType<LiveTokens['watch']>

/** Watches the token and the login that a caller depends on; null for a caller that does not end. */
export function watchCaller(watch: LiveTokens['watch'], caller: Caller | null): Watched | null {
  const watched = [caller?.token, caller?.login].flatMap((id) => (id ? [watch(id)] : []))
  const [first, ...more] = watched
  if (first === undefined || more.length === 0) return first ?? null
  return {
    ended: AbortSignal.any(watched.map(({ ended }) => ended)),
    release() {
      for (const { release } of watched) release()
    },
  }
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
export function createFailedAttempts({ now }: { readonly now: () => number }) {
  const windows = new Map<string, { readonly until: number; count: number }>()

  return {
    /** Counts a failed attempt and refuses it: with 401, or with 429 above the limit. */
    refuse(remote: string, message: string): Result<never> {
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
