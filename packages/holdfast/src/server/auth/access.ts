import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'

/** The permissions of a token: send commands, only read, or everything. */
export type TokenRole = 'driver' | 'viewer' | 'admin'

/** A token as the server stores it: its SHA-256 in hex, never the token itself. */
export type AccessToken = { readonly hash: string; readonly role: TokenRole }

/** Who calls: a token or a login of the page, by an id that reveals no secret, and what it may do. */
export type Caller = { readonly id: string; readonly role: TokenRole }

const callerIdChars = 16

/** Returns a secret of 256 bits, safe in a header, a cookie and a URL. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Returns the part of a token to store: it cannot be used as the token. */
export const hashToken = (token: string): string => digest(token).toString('hex')

/** Compares digests, which have a fixed length, so the time taken reveals nothing about the secret. */
export const isSameSecret = (sent: string, known: Buffer): boolean => timingSafeEqual(digest(sent), known)

export type AuthenticateDeps = {
  readonly tokens: readonly AccessToken[]
  readonly cookie: { loginOf(header: string | null): string | null }
  readonly attempts: ReturnType<typeof createFailedAttempts>
}

/** Returns the caller, by bearer token or by the page's cookie. A token in a URL is ignored. */
export function authenticate(
  { tokens, cookie, attempts }: AuthenticateDeps,
  { method, headers }: Request,
  remote: string,
): Result<Caller> {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    const sent = digest(/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '')
    let caller: Caller | null = null
    // Compares with every known token, to take the same time.
    for (const token of tokens) {
      const known = Buffer.from(token.hash, 'hex')
      if (known.length === 32 && timingSafeEqual(sent, known))
        caller = { id: `token:${token.hash.slice(0, callerIdChars)}`, role: token.role }
    }
    return caller === null ? attempts.refuse(remote, 'Unknown token.') : ok(caller)
  }
  // Not counted as a failed attempt: every open page sends an outdated cookie after a restart.
  const login = cookie.loginOf(headers.get('cookie'))
  if (login === null)
    return refuse(fault('unauthorized', 'Send a token as `Authorization: Bearer …`, or open the login link.'))
  if (isSameOrigin(method, headers.get('sec-fetch-site'), headers.get('origin')))
    return ok({ id: `login:${login}`, role: 'admin' })
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

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const dotSegment = /\/(\.|%2e){1,2}(\/|$)/i

export const isLoopback = (host: string): boolean => host === '::1' || loopbackNames.includes(host)

/** Returns a host as a URL writes it: an IPv6 address in brackets. */
export const urlHost = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

export type ServerAddress = ReturnType<typeof createServerAddress>

/** Checks that a request is meant for this server, and that a browser sent it from one of our pages. */
export function createServerAddress(host: string, port: number, publicOrigins: readonly string[] = []) {
  const names = ['0.0.0.0', '::'].includes(host) ? loopbackNames : [...loopbackNames, urlHost(host).toLowerCase()]
  const origins = new Set([...names.map((name) => new URL(`http://${name}:${port}`).origin), ...publicOrigins])
  const hosts = new Set([...names.map((name) => `${name}:${port}`), ...[...origins].map((one) => new URL(one).host)])

  return {
    /** Checks the request as sent. DNS rebinding cannot fake Host; a URL parser would resolve `..` to another route. */
    checkRequest({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): Fault | null {
      const sent: string[] = []
      for (let at = 0; at + 1 < rawHeaders.length; at += 2)
        if (rawHeaders[at]?.toLowerCase() === 'host') sent.push(rawHeaders[at + 1]?.toLowerCase() ?? '')
      if (sent.length !== 1 || !hosts.has(sent[0] ?? ''))
        return fault('wrong_host', 'This server does not use that host name. Use the address it printed at startup.')
      if (!url.startsWith('/')) return fault('bad_request', 'The request target must be a path.')
      const [path = ''] = url.split('?', 1)
      if (dotSegment.test(path) || path.includes('\\'))
        return fault('bad_id', 'A path must not contain `.`, `..` or a backslash.')
      return null
    },

    /** Compares exactly: a prefix would allow `http://localhost.evil.example`. Only browsers send an Origin. */
    checkOrigin(origin: string | null): Fault | null {
      if (origin === null || origins.has(origin)) return null
      return fault('wrong_origin', 'In a browser, only the pages of this server may call it.')
    },
  }
}
