import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a token allows: send commands, only read, or everything. */
export type TokenRole = 'driver' | 'viewer' | 'admin'

/** A token as the server stores it: its SHA-256 in hex, never the token itself. */
export type AccessToken = { readonly hash: string; readonly role: TokenRole }

/** Returns a secret of 256 bits, safe in a header, a cookie and a URL. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Returns the part of a token to store: it cannot be used as the token. */
export const hashToken = (token: string): string => digest(token).toString('hex')

/** Compares digests, which have a fixed length, so the time taken reveals nothing about the secret. */
export const isSameSecret = (sent: string, known: Buffer): boolean => timingSafeEqual(digest(sent), known)

/** Returns the role of a token, or null if it is unknown. Compares with every known token, to take the same time. */
export function findTokenRole(tokens: readonly AccessToken[], sent: string): TokenRole | null {
  const sentDigest = hash('sha256', sent, 'buffer')
  let found: TokenRole | null = null
  for (const token of tokens) {
    const known = Buffer.from(token.hash, 'hex')
    if (known.length === 32 && timingSafeEqual(sentDigest, known)) found = token.role
  }
  return found
}
