import { z } from 'zod'
import { ageForm, parseAge } from '../text/age.ts'
import { fault } from '../value/fault.ts'
import { GivenTime, Instant, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { ok, type Result, refuse } from '../value/result.ts'
import { ListedCap } from './spending.ts'

/** What a token allows: to read, to send commands too, or everything. Each role includes the one before it. */
export const TokenRole = z.enum(['viewer', 'driver', 'admin'])
export type TokenRole = z.infer<typeof TokenRole>

/** The id of a token. It reveals nothing of the token itself. */
export const TokenId = z.string().regex(/^tok_[0-9a-f]{16}$/, 'a token id is tok_ and 16 characters')
export type TokenId = z.infer<typeof TokenId>

/** The name of a tenant: people who share a server, but see nothing of one another. */
export const Tenant = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'a tenant is up to 63 of a-z, 0-9, dot, dash and underscore')
export type Tenant = z.infer<typeof Tenant>

/** A stored token. The token itself is shown once, when it is created. */
export const ListedToken = z.object({
  /** The id to revoke it with. */
  id: TokenId,
  /** What people call it, such as the device it is for. */
  name: z.string(),
  /** What it allows. */
  role: TokenRole,
  /** The only session it is for; null for all sessions. */
  session: SessionId.nullable(),
  /** The tenant whose sessions and tokens it is for; absent for one of the server itself. */
  tenant: Tenant.optional(),
  /** When it was created. */
  createdAt: Instant,
  /** The token or login that created it; null for a program without one. */
  createdBy: z.string().nullable(),
  /** When it ends by itself; null for never. */
  expiresAt: Instant.nullable(),
  /** When it was used last, to the hour; null if it never was. */
  lastUsedAt: Instant.nullable(),
})
export type ListedToken = z.infer<typeof ListedToken>

/** The tokens of a store. */
export const TokenList = z.object({
  /** In the order in which they were created, also those that have expired. */
  tokens: z.array(ListedToken),
})
export type TokenList = z.infer<typeof TokenList>

/** A new token, with its secret. */
export const CreatedToken = z.object({
  ...ListedToken.shape,
  /** The token itself. It is not stored and cannot be shown again. */
  secret: z.string(),
})
export type CreatedToken = z.infer<typeof CreatedToken>

/** The longest time for which a token can be created. */
const lifeMsMax = 3650 * 86_400_000

const expiry = {
  /** When it ends by itself. */
  expiresAt: GivenTime.optional(),
  /** Instead of `expiresAt`: an age such as `30d`. */
  expiresIn: z
    .string()
    .refine((text) => (parseAge(text) ?? 0) > 0, `give ${ageForm}`)
    .optional(),
}
const name = z
  .string()
  .min(1, 'give a name, such as the device it is for')
  .max(limits.tokenNameCharsMax)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'a name has no control characters')

/** What a new token is for. */
export const TokenOptions = z.strictObject({
  /** What people call it, such as the device it is for. */
  name,
  /** What it allows. */
  role: TokenRole,
  /** The only session it is for, by id, prefix or handle; all sessions when absent. An admin token is for all. */
  session: z.string().min(1).max(200).optional(),
  /** The tenant it is for. It sees only the sessions and tokens of this tenant. Only with a PostgreSQL store. */
  tenant: Tenant.optional(),
  ...expiry,
})
export type TokenOptions = z.infer<typeof TokenOptions>

/** How to share a session. */
export const ShareOptions = z.strictObject({
  /** What people call the link; `link` when absent. */
  name: name.optional(),
  ...expiry,
})
export type ShareOptions = z.infer<typeof ShareOptions>

/** A link that shows one session to anyone with the link. */
export const SharedSession = z.object({
  /** The token of the link. Revoking it ends the link and everything that was opened with it. */
  token: ListedToken,
  /** The address to open. Its fragment is the secret, which browsers send to no server. */
  link: z.string(),
})
export type SharedSession = z.infer<typeof SharedSession>

/** A link that logs a browser in. */
export const LoginLink = z.object({
  /** The address to open. It works once. */
  link: z.string(),
  /** When it stops working. */
  expiresAt: Instant,
  /** The same for another device on this network; null if only this machine can reach the server. */
  networkLink: z.string().nullable(),
})
export type LoginLink = z.infer<typeof LoginLink>

/** Who a request comes from, and what it may do. */
export const Access = z.object({
  /** What it may do. */
  role: TokenRole,
  /** The only session it may see; null for all sessions. */
  session: SessionId.nullable(),
  /** The tenant whose sessions it may see; absent for all. */
  tenant: Tenant.optional(),
  /** When it ends by itself; null for never, or for the login of a page. */
  expiresAt: Instant.nullable(),
  /** The id and the name of the token; absent for a token that the server was started with, and for the login of a page. */
  token: z.object({ id: z.string(), name: z.string() }).optional(),
  /** The caps on what the token may spend; absent with `token`. */
  caps: z.array(ListedCap).optional(),
})
export type Access = z.infer<typeof Access>

/** The logins of pages that were ended. */
export const EndedLogins = z.object({
  /** How many there were. */
  ended: z.int().min(0),
})
export type EndedLogins = z.infer<typeof EndedLogins>

/** The tokens that let clients in: creates, lists and revokes them. */
export interface Tokens {
  /** Creates a token and returns it with its secret. Refused: bad_request, session_not_found, too_large above the limit. */
  create(options: TokenOptions, createdBy?: string): Promise<Result<CreatedToken>>
  /** Lists all tokens, without their secrets. */
  list(): Promise<Result<readonly ListedToken[]>>
  /** Revokes a token by its id or its name, and returns it. Its streams end at once. Refused: not_found, bad_id. */
  revoke(name: string): Promise<Result<ListedToken>>
  /** Ends all logins of the page, and their streams within a second. Share links stay. Refused: storage_error. */
  revokeLogins(): Promise<Result<EndedLogins>>
}

/** Returns the time at which a new token ends; null for never. Refused: bad_request for one in the past or too late. */
export function expiryOf(
  { expiresAt, expiresIn }: z.infer<z.ZodObject<typeof expiry>>,
  now: number,
): Result<Instant | null> {
  if (expiresAt !== undefined && expiresIn !== undefined)
    return refuse(fault('bad_request', 'Give either expiresAt (a time) or expiresIn (an age), not both.'))
  if (expiresAt === undefined && expiresIn === undefined) return ok(null)
  const at = expiresAt === undefined ? now + (parseAge(expiresIn ?? '') ?? 0) : Date.parse(expiresAt)
  if (at > now && at <= now + lifeMsMax) return ok(new Date(at).toISOString())
  return refuse(fault('bad_request', 'A token must end in the future, within ten years. Leave it out for no end.'))
}

/** Parses the id or name of a token. Refused: not_found. */
export function parseTokenName(given: unknown): Result<string> {
  if (typeof given === 'string' && given !== '' && given.length <= limits.tokenNameCharsMax && given.isWellFormed())
    return ok(given)
  return refuse(fault('not_found', 'There is no token with this id or name. `holdfast token list` lists the tokens.'))
}
