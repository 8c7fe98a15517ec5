import type { RemoteHoldfast } from '@holdfast/client'
import {
  type Access,
  type Fault,
  HoldfastError,
  invariant,
  type ModelList,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react'

/** What the page knows of its server. */
export type ServerFacts = {
  /** Null until the first answer. */
  readonly models: ModelList | null
  readonly access: Access | null
  /** Why the newest answer is missing. */
  readonly fault: Fault | null
}

/** The server, with the models it lists and what this login may do. They are loaded when something first shows them. */
export type ServerOnScreen = {
  readonly holdfast: RemoteHoldfast
  readonly current: () => ServerFacts
  readonly subscribe: (listener: () => void) => () => void
  /** Loads them, once unless `again` is true. */
  readonly load: (again?: boolean) => Promise<void>
}

const noFacts: ServerFacts = { models: null, access: null, fault: null }

export function openServerOnScreen(holdfast: RemoteHoldfast): ServerOnScreen {
  const listeners = new Set<() => void>()
  let facts = noFacts
  let loading: Promise<void> | null = null
  const read = async () => {
    const [models, access] = await Promise.all([holdfast.handles.models(), attempt(() => holdfast.access())])
    facts = {
      models: models.ok ? models.value : facts.models,
      access: access.ok ? access.value : facts.access,
      fault: !models.ok ? models.fault : !access.ok ? access.fault : null,
    }
    if (facts.fault !== null) loading = null // the next one who asks tries again
    for (const listener of listeners) listener()
  }
  return {
    holdfast,
    current: () => facts,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    load(again = false) {
      if (again || loading === null) loading = read()
      return loading
    },
  }
}

export const ServerContext = createContext<ServerOnScreen | null>(null)

export function useServer(): ServerOnScreen {
  const server = useContext(ServerContext)
  invariant(server, 'this is drawn on the full page only')
  return server
}

/** Returns what is known of the server, and loads it. */
export function useServerFacts(): ServerFacts {
  const server = useServer()
  useEffect(() => void server.load(), [server])
  return useSyncExternalStore(server.subscribe, server.current)
}

/**
 * Returns whether a login may change what applies to the whole server, such as keys and permission rules: an admin may,
 * unless it is of a tenant. Null until that is known.
 */
export const ownsServer = (access: Access | null): boolean | null =>
  access === null ? null : access.role === 'admin' && access.session === null && access.tenant === undefined

const neverChanges = () => () => undefined
const unknown = (): ServerFacts => noFacts

/** Returns whether this login may change what applies to the whole server; null until that is known, and on a shared page. */
export function useOwnsServer(): boolean | null {
  const server = useContext(ServerContext)
  useEffect(() => void server?.load(), [server])
  const current = server?.current ?? unknown
  return ownsServer(useSyncExternalStore(server?.subscribe ?? neverChanges, current, current).access)
}

/** Turns an exception of the client into a result. */
export async function attempt<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  }
}
