import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '@holdfast/core/ports'
import { GivenFacts, ModelName } from '@holdfast/protocol'
import type { FactsByModel } from '../catalogue/catalogue.ts'
import type { Connection } from '../connect/connection.ts'
import { isLocalAddress } from '../services/address.ts'
import { NeedsKeyError, queryModelList, queryOllama } from './query-server.ts'

/** The time limit of a discovery. Only listing models waits for it. */
export const discoveryMsMax = 250
/** The share of the time for connecting: a local port accepts at once or not at all. */
const connectShare = 0.2
/** The share for queries; what a server answered by then counts. The rest is for processing. */
const queryShare = 0.7

/** The models of servers on this machine, as of the last discovery. */
export interface LocalModels {
  /** Queries every server that may run here. Never rejects, and ends in time. */
  discover(): Promise<void>
  /** Resolves after the first discovery. */
  discovered(): Promise<void>
  /** Returns whether a service was queried and did not answer. */
  isOffline(connection: Connection): boolean
  facts(): FactsByModel
  close(): void
}

export type LocalModelsDeps = {
  readonly connections: () => readonly Connection[]
  /** The time limit of a discovery; 0 turns discovery off. */
  readonly discoveryMs: number
  readonly clock: Clock
  /** Called after a discovery with another result than the last one. */
  readonly onChanged: () => void
}

type FoundFacts = ReadonlyMap<string, FactsByModel>

export function createLocalModels({ connections, discoveryMs, clock, onChanged }: LocalModelsDeps): LocalModels {
  const closing = new AbortController()
  let found: FoundFacts = new Map()
  let facts: FactsByModel = {}
  let running: Promise<void> | null = null
  let first: Promise<void> | null = null

  const isQueried = ({ service, baseUrl, isAddressGiven, addressProblem }: Connection): boolean =>
    discoveryMs > 0 &&
    addressProblem === null &&
    service.discovery !== undefined &&
    isLocalAddress(baseUrl) &&
    (isAddressGiven || !service.isDiscoveredOnlyIfNamed)

  async function queryServers(): Promise<void> {
    const cancels: (() => void)[] = []
    const timeout = (share: number): AbortSignal => {
      const over = new AbortController()
      cancels.push(clock.after(Math.round(share * discoveryMs), () => over.abort()))
      return AbortSignal.any([closing.signal, over.signal])
    }
    try {
      const next = await queryAll(connections().filter(isQueried), timeout)
      if (closing.signal.aborted || isDeepStrictEqual(next, found)) return
      found = next
      facts = Object.assign({}, ...found.values())
      onChanged()
    } finally {
      for (const cancel of cancels) cancel()
    }
  }

  function discover(): Promise<void> {
    running ??= queryServers().finally(() => {
      running = null
    })
    first ??= running
    return running
  }

  return {
    discover,
    discovered: () => first ?? discover(),
    isOffline: (connection) => isQueried(connection) && !found.has(connection.service.name),
    facts: () => facts,
    close: () => closing.abort(),
  }
}

async function queryAll(
  connections: readonly Connection[],
  timeout: (share: number) => AbortSignal,
): Promise<FoundFacts> {
  const connecting = timeout(connectShare)
  const listening = await Promise.all(connections.map(({ baseUrl }) => isListening(baseUrl, connecting)))
  const servers = connections.filter((_, index) => listening[index])
  if (servers.length > 0) new Headers() // loads fetch now, on our time and not on the servers'
  const querying = timeout(queryShare)
  const deadline = timeout(1 - connectShare)
  const found = await Promise.all(servers.map((server) => queryOne(server, querying, deadline)))
  return new Map(found.flatMap((one) => one ?? []))
}

/** Checks the port first: usually nothing listens, and loading `fetch` takes time. */
function isListening(address: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address)
  const defaultPort = protocol === 'https:' ? 443 : 80
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort })
    const settle = (isConnected: boolean) => {
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
      resolve(isConnected)
    }
    const giveUp = () => settle(false)
    signal.addEventListener('abort', giveUp)
    socket.on('connect', () => settle(true)).on('error', giveUp)
    if (signal.aborted) giveUp()
  })
}

/** Returns the facts of one server; null if it does not answer, or not as a model server. */
async function queryOne(
  { service, baseUrl }: Connection,
  querying: AbortSignal,
  deadline: AbortSignal,
): Promise<[[string, FactsByModel]] | null> {
  const query = service.discovery === 'ollama' ? queryOllama : queryModelList
  try {
    const models = await rejectOnAbort(query(baseUrl, querying), deadline)
    const entries = [...models].map(([id, facts]) => [`${service.name}/${id}`, keepValidFacts(facts)] as const)
    return [[service.name, Object.fromEntries(entries.filter(([name]) => ModelName.safeParse(name).success))]]
  } catch (error) {
    return error instanceof NeedsKeyError ? [[service.name, {}]] : null
  }
}

/** Ends the wait at the deadline even if `fetch` ignores its signal. */
function rejectOnAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** Any program may listen on the port, so only valid facts are used. */
function keepValidFacts(facts: GivenFacts): GivenFacts {
  const parsed = GivenFacts.safeParse(facts)
  if (parsed.success) return parsed.data
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]))
  return Object.fromEntries(Object.entries(facts).filter(([name]) => !wrong.has(name)))
}
