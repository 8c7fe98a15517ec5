import { randomBytes } from 'node:crypto'
import type { Store, StoredToken, TokenRows } from '@holdfast/core/ports'
import {
  escapeLine,
  expiryOf,
  type Fault,
  fault,
  type ListedToken,
  limits,
  ok,
  parseOptions,
  parseTokenName,
  type Result,
  refuse,
  type SessionId,
  TokenId,
  TokenOptions,
  type Tokens,
} from '@holdfast/protocol'
import { createTokenSecret, hashToken } from './token-secret.ts'

/** Finds the session that a name means; with a tenant, among its sessions. */
export type FindSession = (name: string, tenant?: string) => Promise<Result<SessionId>>

type TokensDeps = {
  readonly rows: TokenRows & Pick<Store, 'tenants'>
  readonly now: () => number
  /** Refused: session_not_found and alike. */
  readonly findSession: FindSession
  /** Creates, lists and revokes only the tokens of this tenant. */
  readonly tenant?: string | undefined
  /** Called after each change, before its caller is answered. */
  readonly onChange: () => Promise<void>
  /** Called if a token is revoked and its row cannot be removed. Returns once the token is refused here. */
  readonly refuseHere: (id: string) => void
}

/** Creates, lists and revokes the tokens of a store. */
export function createTokens({ rows: all, now, findSession, onChange, refuseHere, tenant: own }: TokensDeps): Tokens {
  const visible = async () => (own === undefined ? await all.tokens() : (await all.tokens()).filter(isOf(own)))
  const rows = { ...all, tokens: async () => (await visible()).filter((token) => !isLogin(token)) }
  return {
    async create(given, createdBy) {
      const options = parseOptions(TokenOptions, given, 'create the token')
      if (!options.ok) return options
      const { name, role, session, tenant = own } = options.value
      if (own !== undefined && tenant !== own) return refuse(otherTenant)
      if (tenant !== undefined && all.tenants === undefined) return refuse(noTenants)
      if (role === 'admin' && session !== undefined) return refuse(adminOfOne)
      const expiresAt = expiryOf(options.value, now())
      if (!expiresAt.ok) return expiresAt
      const bound = session === undefined ? ok(null) : await findSession(session, tenant)
      if (!bound.ok) return bound
      const room = await makeRoom(rows, now())
      if (!room.ok) return room

      const secret = createTokenSecret()
      const token: StoredToken = {
        id: TokenId.parse(`tok_${randomBytes(8).toString('hex')}`),
        hash: hashToken(secret),
        name,
        role,
        session: bound.value,
        ...(tenant !== undefined && { tenant }),
        createdAt: new Date(now()).toISOString(),
        createdBy: createdBy ?? null,
        expiresAt: expiresAt.value,
        lastUsedAt: null,
      }
      const added = await rows.addToken(token)
      if (!added.ok) return added
      await onChange()
      return ok({ ...withoutHash(token), secret })
    },

    list: async () => ok((await rows.tokens()).map(withoutHash)),

    async revoke(given) {
      const named = parseTokenName(given)
      if (!named.ok) return named
      const tokens = await rows.tokens()
      const byId = tokens.find(({ id }) => id === named.value)
      const fits = byId ? [byId] : tokens.filter(({ name }) => name === named.value)
      const [token, another] = fits
      if (token === undefined) return refuse(noToken(named.value))
      if (another !== undefined) return refuse(sameName(named.value, fits))
      const removed = await rows.removeToken(token.id)
      if (!removed.ok) {
        refuseHere(token.id)
        return refuse(notWritten(token, removed.fault))
      }
      await onChange()
      return removed.value ? ok(withoutHash(token)) : refuse(noToken(named.value))
    },

    async revokeLogins() {
      const logins = (await visible()).filter(isLogin)
      const refusals: Fault[] = []
      for (const { id } of logins) {
        const removed = await rows.removeToken(id)
        if (removed.ok) continue
        refuseHere(id)
        refusals.push(removed.fault)
      }
      await onChange()
      return refusals[0] ? refuse(loginsLeft(refusals[0])) : ok({ ended: logins.length })
    },
  }
}

/** Removes expired tokens if the store is full. Refused: too_large. */
async function makeRoom(rows: TokenRows, nowMs: number): Promise<Result<null>> {
  const tokens = await rows.tokens()
  if (tokens.length < limits.tokensMax) return ok(null)
  const expired = tokens.filter((token) => hasExpired(token, nowMs))
  for (const { id } of expired) {
    const removed = await rows.removeToken(id)
    if (!removed.ok) return removed
  }
  if (expired.length > 0) return ok(null)
  const message = `There are ${limits.tokensMax} tokens already. Revoke one first: holdfast token revoke.`
  return refuse(fault('too_large', message, { limit: 'tokensMax', max: limits.tokensMax }))
}

/** Returns whether a row is the login of a page, which is stored beside the tokens. */
export const isLogin = ({ id }: Pick<ListedToken, 'id'>): boolean => id.startsWith('log_')

/** Returns whether a token has ended by itself. */
export const hasExpired = ({ expiresAt }: Pick<ListedToken, 'expiresAt'>, nowMs: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= nowMs

const withoutHash = ({ hash: _, ...token }: StoredToken): ListedToken => token

const adminOfOne = fault('bad_request', 'An admin token is for all sessions. Use the role driver or viewer for one.')

const isOf =
  (own: string) =>
  ({ tenant }: StoredToken): boolean =>
    tenant === own

const otherTenant = fault('not_driver', 'This token is of a tenant. It can create tokens only for the same tenant.', {
  needs: 'admin',
})

const noTenants = fault(
  'bad_request',
  'This store keeps no tenants apart. Use a PostgreSQL store, or a server for each of them.',
)

const noToken = (name: string) =>
  fault('not_found', `There is no token ${escapeLine(name)}. \`holdfast token list\` lists the tokens.`, { name })

const notWritten = ({ id, name }: StoredToken, { code, message, details }: Fault) =>
  fault(
    code,
    `The token ${escapeLine(name)} is refused until this program ends, but the store still has it: ${message} ` +
      `Revoke it again once that is solved.`,
    { ...details, token: id },
  )

const loginsLeft = ({ code, message, details }: Fault) =>
  fault(
    code,
    `All logins are refused until this program ends, but the store still has some: ${message} End them again once that is solved.`,
    details,
  )

const sameName = (name: string, fits: readonly StoredToken[]) =>
  fault('bad_id', `${fits.length} tokens are named ${escapeLine(name)}. Use the id of one: holdfast token list.`, {
    name,
    fits: fits.map(({ id }) => id),
  })
