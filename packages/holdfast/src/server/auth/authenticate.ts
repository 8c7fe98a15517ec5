import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { LoginCookie } from './login-cookie.ts'
import { type AccessToken, findToken, type Role } from './token.ts'
import type { Tries } from './tries.ts'

export type PresentedCredentials = {
  readonly method: string
  readonly remote: string
  readonly header: (name: string) => string | undefined
}

export type AuthenticateDeps = {
  readonly tokens: readonly AccessToken[]
  readonly cookie: LoginCookie
  readonly tries: Tries
}

/** Who calls, by bearer token or by the page's cookie. A token in a URL is never looked at. */
export function authenticate(parts: AuthenticateDeps, credentials: PresentedCredentials): Result<Role> {
  const authorization = credentials.header('authorization')
  return authorization === undefined
    ? byCookie(parts.cookie, credentials)
    : byToken(parts, authorization, credentials.remote)
}

function byToken({ tokens, tries }: AuthenticateDeps, authorization: string, remote: string): Result<Role> {
  const sent = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  const token = findToken(tokens, sent)
  return token ? ok(token.role) : badTry(tries, remote, 'This token is not known here.')
}

/** A guess that failed: 401, and after ten a minute 429. */
export function badTry(tries: Tries, remote: string, message: string): Result<never> {
  const retryAfterSeconds = tries.note(remote)
  if (retryAfterSeconds === null) return refuse(fault('unauthorized', message))
  return refuse(fault('too_many_tries', 'Too many wrong tries; wait a minute.', { retryAfterSeconds }))
}

/** A stale cookie is what every open page has after a restart, so it is no guess and is not counted. */
function byCookie(cookie: LoginCookie, { method, header }: PresentedCredentials): Result<Role> {
  if (!cookie.isGood(header('cookie'))) {
    return refuse(fault('unauthorized', 'Send a token as `Authorization: Bearer …`, or open the login link.'))
  }
  if (isSameOrigin(method, header('sec-fetch-site'), header('origin'))) return ok('admin')
  return refuse(fault('wrong_origin', 'The login of the page counts for the page itself only.'))
}

/**
 * SameSite=Strict still lets another port of this machine send our cookie, so the browser's word is asked for. Any
 * Origin was found to be ours before; without either header a read is let through, as the answer cannot be read across
 * origins.
 */
function isSameOrigin(method: string, site: string | undefined, origin: string | undefined): boolean {
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && method === 'GET')
  return origin !== undefined || method === 'GET'
}
