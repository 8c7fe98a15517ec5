import { createHmac, randomBytes } from 'node:crypto'
import { createSecret, digest, isSameSecret } from './access.ts'

const codeLifeMs = 10 * 60_000
const codesMax = 16
const cookieLifeSeconds = 30 * 24 * 3600

export type LoginCodes = ReturnType<typeof createLoginCodes>

/** One-time codes for the login link. A code works once, for ten minutes. */
export function createLoginCodes({ now }: { readonly now: () => number }) {
  let codes: readonly { readonly digest: Buffer; readonly until: number }[] = []

  return {
    create(): string {
      const code = createSecret()
      codes = [...codes.slice(1 - codesMax), { digest: digest(code), until: now() + codeLifeMs }]
      return code
    },

    /** Returns whether the code was valid, and invalidates it. */
    redeem(code: string): boolean {
      const valid = codes.filter(({ until }) => until > now())
      codes = valid.filter((one) => !isSameSecret(code, one.digest))
      return codes.length < valid.length
    },
  }
}

export type LoginCookie = ReturnType<typeof createLoginCookie>
type LoginCookieDeps = { readonly now: () => number; readonly key: Uint8Array | undefined; readonly port: number }

/** The cookie of a page that logged in. It is signed with the server's key, so the server stores nothing. */
export function createLoginCookie({ now, key = randomBytes(32), port }: LoginCookieDeps) {
  const name = `holdfast_${port}` // browsers share cookies between ports, so each server needs its own name
  const sign = (login: string, until: string) =>
    createHmac('sha256', key).update(`${login}.${until}`).digest('base64url')

  return {
    /** Returns a `Set-Cookie` header. */
    issue(): string {
      const until = String(Math.floor(now() / 1000) + cookieLifeSeconds)
      const login = randomBytes(12).toString('base64url') // each login is a caller of its own
      return `${name}=${login}.${until}.${sign(login, until)}; Path=/; Max-Age=${cookieLifeSeconds}; HttpOnly; SameSite=Strict`
    },

    /** Returns the login of an unexpired cookie that we issued; null if a `Cookie` header has none. */
    loginOf(header: string | null): string | null {
      for (const pair of (header ?? '').split(/; */)) {
        if (!pair.startsWith(`${name}=`)) continue
        const [login = '', until = '', signature = ''] = pair.slice(name.length + 1).split('.')
        if (isSameSecret(signature, digest(sign(login, until))) && Number(until) * 1000 > now()) return login
      }
      return null
    },
  }
}
