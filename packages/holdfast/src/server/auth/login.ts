import { createHmac, randomBytes } from 'node:crypto'
import type { StoredToken } from '@holdfast/core/ports'
import { loginLifeMs } from '../../tokens/logins.ts'
import { createSecret, digest, isSameSecret } from '../../tokens/token-secret.ts'

export const codeLifeMs = 10 * 60_000
const codesMax = 16

export type LoginCodes = ReturnType<typeof createLoginCodes>

type LoginCode = { readonly digest: Buffer; readonly until: number; readonly token: string | null }

/** One-time codes for the login link. A code works once, for ten minutes. One that a token made carries its id. */
export function createLoginCodes({ now }: { readonly now: () => number }) {
  let codes: readonly LoginCode[] = []

  return {
    create(token: string | null = null): string {
      const code = createSecret()
      codes = [...codes.slice(1 - codesMax), { digest: digest(code), until: now() + codeLifeMs, token }]
      return code
    },

    /** Invalidates all codes. */
    clear() {
      codes = []
    },

    /** Invalidates the code, and returns the token that made it; null if the code was not valid. */
    redeem(code: string): Pick<LoginCode, 'token'> | null {
      const valid = codes.filter(({ until }) => until > now())
      codes = valid.filter((one) => !isSameSecret(code, one.digest))
      return valid.find((one) => !codes.includes(one)) ?? null
    },
  }
}

export type LoginCookie = ReturnType<typeof createLoginCookie>
type LoginCookieDeps = { readonly now: () => number; readonly key: Uint8Array | undefined; readonly port: number }

/** A login of the page. One that came from a token ends with the token. */
export type Login = { readonly login: string; readonly token: string | null }

/**
 * Returns whether a token shows one session to everybody who has its link. Its logins are not stored: there may be many,
 * and they end with the link.
 */
export const isShareLink = ({ role, session }: Pick<StoredToken, 'role' | 'session'>): boolean =>
  role === 'viewer' && session !== null

type Issued = {
  /** The id of the stored login; a random one if it is not stored. */
  readonly login?: string | undefined
  readonly token?: StoredToken | null | undefined
  readonly isSecure: boolean
}

/** The cookie of a page that logged in. It is signed with the server's key, so that nobody can guess the id of a login. */
export function createLoginCookie({ now, key = randomBytes(32), port }: LoginCookieDeps) {
  const name = `holdfast_${port}` // browsers share cookies between ports, so each server needs its own name
  const sharedName = `${name}_shared`
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')

  const read = (value: string): Login | null => {
    const [login = '', until = '', token = '', signature = ''] = value.split('.')
    if (!isSameSecret(signature, digest(sign(`${login}.${until}.${token}`)))) return null
    return Number(until) * 1000 > now() ? { login, token: token === '' ? null : token } : null
  }

  return {
    /**
     * Returns a `Set-Cookie` header: for everything, or for what a token allows. The cookie of a token that shows one
     * session is sent only with requests for that session, so that several shared sessions can be open beside a login.
     */
    issue({ token = null, login = randomBytes(12).toString('base64url'), isSecure }: Issued): string {
      const nowSeconds = Math.floor(now() / 1000)
      const endsSeconds = token?.expiresAt ? Math.floor(Date.parse(token.expiresAt) / 1000) : Number.POSITIVE_INFINITY
      const until = Math.min(nowSeconds + loginLifeMs / 1000, endsSeconds)
      const value = `${login}.${until}.${token?.id ?? ''}`
      const isShared = token !== null && isShareLink(token)
      const path = isShared ? `/v1/sessions/${token.session}` : '/'
      const attributes = `Path=${path}; Max-Age=${until - nowSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
      return `${isShared ? sharedName : name}=${value}.${sign(value)}; ${attributes}`
    },

    /** Returns a `Set-Cookie` header that removes the login of the page from the browser. */
    remove: (isSecure: boolean): string =>
      `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,

    /** Returns the unexpired logins that a `Cookie` header holds and we issued: that of the page first. */
    loginsOf(header: string | null): readonly Login[] {
      const pairs = (header ?? '').split(/; */)
      return [name, sharedName].flatMap((one) =>
        pairs.flatMap((pair) => (pair.startsWith(`${one}=`) ? (read(pair.slice(one.length + 1)) ?? []) : [])),
      )
    },
  }
}
