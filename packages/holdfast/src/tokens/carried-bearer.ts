import { AsyncLocalStorage } from 'node:async_hooks'

const carried = new AsyncLocalStorage<string | null>()

/** Runs the work of a request. What it asks of other nodes carries the caller's own `Authorization`; null for none. */
export const withBearer = <Value>(authorization: string | null, work: () => Value): Value =>
  carried.run(authorization, work)

/** Returns the `Authorization` of the request that this work belongs to. */
export const carriedBearer = (): string | null => carried.getStore() ?? null

/** Returns the secret in an `Authorization` header; empty if there is none. */
export const secretOf = (authorization: string): string => /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
