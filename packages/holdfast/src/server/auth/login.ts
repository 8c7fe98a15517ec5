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
  const sign = (until: string) => createHmac('sha256', key).update(until).digest('base64url')

  return {
    /** Returns a `Set-Cookie` header. */
    issue(): string {
      const until = String(Math.floor(now() / 1000) + cookieLifeSeconds)
      return `${name}=${until}.${sign(until)}; Path=/; Max-Age=${cookieLifeSeconds}; HttpOnly; SameSite=Strict`
    },

    /** Returns whether a `Cookie` header holds an unexpired cookie that we issued. */
    isValid(header: string | null): boolean {
      return (header ?? '').split(/; */).some((pair) => {
        if (!pair.startsWith(`${name}=`)) return false
        const [until = '', signature = ''] = pair.slice(name.length + 1).split('.')
        return isSameSecret(signature, digest(sign(until))) && Number(until) * 1000 > now()
      })
    },
  }
}
