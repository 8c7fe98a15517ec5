import { createHmac, randomBytes } from 'node:crypto'
import { digest, isSameSecret } from './token.ts'

const cookieLifeSeconds = 30 * 24 * 3600

/** The page's proof that it logged in: sealed with the server's key, so nothing has to be remembered. */
export interface LoginCookie {
  /** A `Set-Cookie` header. */
  issue(): string
  /** Whether a `Cookie` header holds a cookie we issued that has not run out. */
  isGood(header: string | undefined): boolean
}

export type LoginCookieDeps = {
  readonly now: () => number
  /** Kept by the caller, it lets the page stay logged in across a restart; otherwise the cookie dies with the process. */
  readonly key: Uint8Array | undefined
  readonly port: number
}

export function createLoginCookie({ now, key = randomBytes(32), port }: LoginCookieDeps): LoginCookie {
  const name = `holdfast_${port}` // cookies ignore the port, so two servers of one machine need two names
  const seal = (until: string) => createHmac('sha256', key).update(until).digest('base64url')

  return {
    issue() {
      const until = String(Math.floor(now() / 1000) + cookieLifeSeconds)
      return `${name}=${until}.${seal(until)}; Path=/; Max-Age=${cookieLifeSeconds}; HttpOnly; SameSite=Strict`
    },

    isGood(header) {
      const values = (header ?? '').split(/; */).flatMap((pair) => {
        const [left, ...right] = pair.split('=')
        return left === name ? [right.join('=')] : []
      })
      return values.some((value) => {
        const [until = '', sent = ''] = value.split('.')
        return isSameSecret(sent, digest(seal(until))) && Number(until) * 1000 > now()
      })
    },
  }
}
