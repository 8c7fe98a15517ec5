import { createHmac, randomBytes } from 'node:crypto'
import { createSecret, digest, isSameSecret } from './authenticate.ts'

const codeLifeMs = 10 * 60_000
const codesMax = 16
const cookieLifeSeconds = 30 * 24 * 3600

/** One-time codes for the login link. A code works once, for ten minutes. */
export interface LoginCodes {
  create(): string
  /** Returns whether the code was valid, and invalidates it. */
  redeem(code: string): boolean
}

export function createLoginCodes({ now }: { readonly now: () => number }): LoginCodes {
  let codes: readonly { readonly digest: Buffer; readonly until: number }[] = []

  return {
    create() {
      const code = createSecret()
      codes = [...codes.slice(1 - codesMax), { digest: digest(code), until: now() + codeLifeMs }]
      return code
    },

    redeem(code) {
      const valid = codes.filter(({ until }) => until > now())
      codes = valid.filter((one) => !isSameSecret(code, one.digest))
      return codes.length < valid.length
    },
  }
}

/** The cookie of a page that logged in. It is signed with the server's key, so the server stores nothing. */
export interface LoginCookie {
  /** Returns a `Set-Cookie` header. */
  issue(): string
  /** Returns whether a `Cookie` header holds an unexpired cookie that we issued. */
  isValid(header: string | null): boolean
}

export type LoginCookieDeps = {
  readonly now: () => number
  /** With a stored key the page stays logged in across restarts; a generated one ends with the process. */
  readonly key: Uint8Array | undefined
  readonly port: number
}

export function createLoginCookie({ now, key = randomBytes(32), port }: LoginCookieDeps): LoginCookie {
  const name = `holdfast_${port}` // browsers share cookies between ports, so each server needs its own name
  const sign = (until: string) => createHmac('sha256', key).update(until).digest('base64url')

  return {
    issue() {
      const until = String(Math.floor(now() / 1000) + cookieLifeSeconds)
      return `${name}=${until}.${sign(until)}; Path=/; Max-Age=${cookieLifeSeconds}; HttpOnly; SameSite=Strict`
    },

    isValid(header) {
      return (header ?? '').split(/; */).some((pair) => {
        if (!pair.startsWith(`${name}=`)) return false
        const [until = '', signature = ''] = pair.slice(name.length + 1).split('.')
        return isSameSecret(signature, digest(sign(until))) && Number(until) * 1000 > now()
      })
    },
  }
}
