import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** What the bearer of a token may do: command, only look, or everything. */
export type Role = 'driver' | 'viewer' | 'admin'

/** A token as the server knows it: never the token itself, only its SHA-256 in hex. */
export type AccessToken = { readonly hash: string; readonly role: Role }

/** A secret of 256 bits, safe in a header, a cookie and a URL. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

export const digest = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest()

/** What to keep of a token, so that whoever reads the file cannot use it. */
export const hashToken = (token: string): string => digest(token).toString('hex')

/** Digests have one length whatever was sent, so the time taken tells nothing about the secret. */
export const isSameSecret = (sent: string, known: Buffer): boolean => timingSafeEqual(digest(sent), known)

/** The token that was sent, if we know it. Every known one is compared, whichever matches. */
export function findToken(tokens: readonly AccessToken[], sent: string): AccessToken | null {
  let found: AccessToken | null = null
  for (const token of tokens) {
    const known = Buffer.from(token.hash, 'hex')
    if (known.length === 32 && isSameSecret(sent, known)) found = token
  }
  return found
}
