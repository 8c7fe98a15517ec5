import { timingSafeEqual } from 'node:crypto'
import type { Clock, OnProblem, Store, StoredToken, TokenRows } from '@holdfast/core/ports'
import { errorMessage, limits, type Tokens } from '@holdfast/protocol'
import { createLogins, type Logins } from './logins.ts'
import { digest as digestOf, isTokenSecret } from './token-secret.ts'
import { createTokens, type FindSession, hasExpired } from './tokens.ts'

const hourMs = 3_600_000

/** The tokens of a store as a server uses them: finds the token of a request, and ends what a token opened. */
export interface LiveTokens extends Tokens {
  /** Returns the token with this secret; null if it is unknown, revoked or expired. */
  find(secret: string): Promise<StoredToken | null>
  /** Returns the token with this id; null if it is unknown, revoked or expired. */
  get(id: string): Promise<StoredToken | null>
  /** The logins of pages. `get` and `watch` take their ids too. */
  readonly logins: Logins
  /** Returns the tokens of a tenant, as if there were no others. */
  within(tenant: string): Tokens
  /** Returns a signal that aborts within a second after the token was revoked or has expired. `release` stops watching. */
  watch(id: string): { readonly ended: AbortSignal; readonly release: () => void }
}

type KnownToken = StoredToken & { readonly digest: Buffer }

type LiveTokensDeps = {
  readonly rows: TokenRows & Pick<Store, 'tenants'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly findSession: FindSession
  readonly onProblem: OnProblem
}

/**
 * Keeps the tokens in memory and reads them again after `limits.tokenCheckMs`: another process can change them. A timer
 * runs only while something is open that a token must end.
 */
export function createLiveTokens({ rows, clock, findSession, onProblem }: LiveTokensDeps): LiveTokens {
  const { now, after } = clock
  let known: readonly KnownToken[] = []
  let readAt: number | null = null
  let changes = 0
  /** How many readings have begun, and the number of the last one that has ended. */
  let [begun, ended] = [0, 0]
  let reading: Promise<void> | null = null
  const watched = new Map<string, { readonly controller: AbortController; users: number }>()
  let cancelTimer: (() => void) | null = null
  /** Revoked, but the store could not remove them: they stay refused here. */
  const refused = new Set<string>()

  /** Reads until no change came in between, so that an older answer never brings back a revoked token. */
  const readNow = async (): Promise<void> => {
    for (let before = -1; before !== changes; ) {
      before = changes
      begun += 1
      known = (await rows.tokens()).map((token) => ({ ...token, digest: Buffer.from(token.hash, 'hex') }))
    }
    readAt = now()
    ended = begun
    endWatched()
  }
  const read = (): Promise<void> => {
    reading ??= readNow().finally(() => {
      reading = null
    })
    return reading
  }
  const refresh = async (): Promise<void> => {
    if (readAt === null || Math.abs(now() - readAt) >= limits.tokenCheckMs) await read()
  }
  const findValid = (test: (token: KnownToken) => boolean): KnownToken | null =>
    known.find((token) => test(token) && !refused.has(token.id) && !hasExpired(token, now())) ?? null

  const endWatched = () => {
    for (const [id, { controller }] of watched) {
      if (findValid((token) => token.id === id)) continue
      watched.delete(id)
      controller.abort()
    }
  }
  const check = async () => {
    await read().catch((cause: unknown) => onProblem({ where: `reading the tokens: ${errorMessage(cause)}`, cause }))
    endWatched() // also if the store cannot be read: a token may have expired
    cancelTimer = null
    startTimer()
  }
  const startTimer = () => {
    if (watched.size > 0) cancelTimer ??= after(limits.tokenCheckMs, () => void check())
  }
  const refuseHere = (id: string) => {
    refused.add(id)
    endWatched()
  }
  const onChange = async () => {
    changes += 1
    await read()
  }

  /** Records the use to the hour, but not before the token was made. Nobody waits for it. */
  const touch = (token: StoredToken) => {
    const usedMs = Math.max(Math.floor(now() / hourMs) * hourMs, Date.parse(token.createdAt))
    const usedAt = new Date(usedMs).toISOString()
    if (token.lastUsedAt === usedAt) return
    known = known.map((one) => (one.id === token.id ? { ...one, lastUsedAt: usedAt } : one))
    const report = (cause: unknown) => onProblem({ where: `recording the use of ${token.id}`, cause })
    rows.touchToken(token.id, usedAt).then((touched) => touched.ok || report(touched.fault), report)
  }

  return {
    ...createTokens({ rows, now, findSession, onChange, refuseHere }),
    logins: createLogins({ rows, now, onChange, refuseHere }),
    within: (tenant) => createTokens({ rows, now, findSession, onChange, refuseHere, tenant }),

    async find(secret) {
      const before = begun
      await refresh()
      const sent = digestOf(secret)
      // Digests have a fixed length, so the time to compare them reveals nothing about a token.
      const isSent = ({ digest }: KnownToken) => digest.length === sent.length && timingSafeEqual(sent, digest)
      let token = findValid(isSent)
      // Another process may have made it since the last reading. All who wait share one that begins after they came.
      while (!token && isTokenSecret(secret) && ended <= before) {
        await read()
        token = findValid(isSent)
      }
      if (token) touch(token)
      return token
    },

    async get(id) {
      await refresh()
      const token = findValid((one) => one.id === id)
      if (token) touch(token)
      return token
    },

    watch(id) {
      const one = watched.get(id) ?? { controller: new AbortController(), users: 0 }
      watched.set(id, one)
      one.users += 1
      if (!findValid((token) => token.id === id)) endWatched()
      startTimer()
      let isReleased = false
      const release = () => {
        if (isReleased) return
        isReleased = true
        one.users -= 1
        if (one.users > 0 || watched.get(id) !== one) return
        watched.delete(id)
        if (watched.size > 0) return
        cancelTimer?.()
        cancelTimer = null
      }
      return { ended: one.controller.signal, release }
    },
  }
}
