import { createSecret, digest, isSameSecret } from './token.ts'

const codeLifeMs = 10 * 60_000
const codesMax = 16

/** One-time codes for the login link: each opens the door once, within ten minutes of its making. */
export interface LoginCodes {
  create(): string
  /** Whether the code was good; it is not good a second time. */
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
      const alive = codes.filter(({ until }) => until > now())
      codes = alive.filter((one) => !isSameSecret(code, one.digest))
      return codes.length < alive.length
    },
  }
}
