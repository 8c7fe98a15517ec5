import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Marks a token, so that people and programs that look for leaked secrets recognize it. */
const prefix = 'holdfast_'

/** Returns a secret of 256 bits, safe in a header, a cookie and a URL. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

/** Returns the secret of a new token. */
export const createTokenSecret = (): string => `${prefix}${createSecret()}`

/** Returns whether a text looks like the secret of a token. */
export const isTokenSecret = (text: string): boolean => text.startsWith(prefix) && text.length === secretChars

const secretChars = prefix.length + 43 // 32 bytes in base64url

export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Returns the part of a token to store: it cannot be used as the token. */
export const hashToken = (token: string): string => digest(token).toString('hex')

/** Compares digests, which have a fixed length, so the time taken reveals nothing about the secret. */
export const isSameSecret = (sent: string, known: Buffer): boolean => timingSafeEqual(digest(sent), known)

/** Returns the secret in an `Authorization` header; empty if there is none. */
export const secretOf = (authorization: string): string => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
