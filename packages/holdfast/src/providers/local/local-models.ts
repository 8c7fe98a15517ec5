import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '@holdfast/core/ports'
import { GivenFacts, ModelName } from '@holdfast/protocol'
import { z } from 'zod'
import type { FactsByModel } from '../catalogue/catalogue.ts'
import type { Connection } from '../connect/connection.ts'
import { isLocalAddress } from '../services/address.ts'
import { readBody } from '../services/fetch.ts'

/** The time limit of a discovery. Only listing models waits for it. */
export const discoveryMsMax = 250
/** The share of the time for connecting: a local port accepts at once or not at all. */
const connectShare = 0.2
/** The share for queries; what a server answered by then counts. The rest is for processing. */
const queryShare = 0.7

export type LocalModels = ReturnType<typeof createLocalModels>

type LocalModelsDeps = {
  readonly connections: () => readonly Connection[]
  /** The time limit of a discovery; 0 turns discovery off. */
  readonly discoveryMs: number
  readonly clock: Clock
  /** Called after a discovery with another result than the last one. */
  readonly onChanged: () => void
}

type FoundFacts = ReadonlyMap<string, FactsByModel>

/** The models of servers on this machine, as of the last discovery. */
export function createLocalModels({ connections, discoveryMs, clock, onChanged }: LocalModelsDeps) {
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
    const timeout: Timeout = (share) => {
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

  /** Queries every server that may run here. Never rejects, and ends in time. */
  function discover(): Promise<void> {
    running ??= queryServers().finally(() => {
      running = null
    })
    first ??= running
    return running
  }

  return {
    discover,
    /** Resolves after the first discovery. */
    discovered: () => first ?? discover(),
    /** Returns whether a service was queried and did not answer. */
    isOffline: (connection: Connection): boolean => isQueried(connection) && !found.has(connection.service.name),
    facts: () => facts,
    close: () => closing.abort(),
  }
}

type Timeout = (share: number) => AbortSignal

async function queryAll(connections: readonly Connection[], timeout: Timeout): Promise<FoundFacts> {
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

/** More than the models of one machine need. */
const answerBytesMax = 4 * 1024 * 1024
/** Ollama is asked about each model separately, so only about this many. */
const detailedModelsMax = 100

/** The server runs but needs a key. We send none: the port may belong to another program. */
class NeedsKeyError extends Error {}

type FoundModels = ReadonlyMap<string, GivenFacts>

/** Reads JSON from a local server. Throws for everything else, including an abort. */
async function queryJson(url: string, signal: AbortSignal, body?: object): Promise<unknown> {
  const answer = await fetch(url, {
    signal,
    redirect: 'error', // it must not send us to another machine
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  if (answer.status === 401 || answer.status === 403) throw new NeedsKeyError('the server needs a key')
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  const text = await readBody(answer, answerBytesMax)
  if (text === null) throw new Error('the answer is too long')
  return JSON.parse(text)
}

const ModelListing = z.looseObject({
  data: z.array(z.looseObject({ id: z.string().min(1), max_model_len: z.number().nullish().catch(null) })),
})

/** Lists the models of a server with OpenAI's API. vLLM also gives the context size. */
async function queryModelList(baseUrl: string, signal: AbortSignal): Promise<FoundModels> {
  const { data } = ModelListing.parse(await queryJson(`${baseUrl}/models`, signal))
  return new Map(data.map(({ id, max_model_len }) => [id, max_model_len ? { contextTokens: max_model_len } : {}]))
}

const Tags = z.looseObject({
  models: z.array(z.looseObject({ name: z.string().min(1), remote_host: z.string().optional() })),
})
const Running = z.looseObject({
  models: z.array(z.looseObject({ name: z.string(), context_length: z.number().optional().catch(undefined) })),
})
const Details = z.looseObject({
  capabilities: z.array(z.string()).optional(),
  parameters: z.string().optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
})
type Details = z.infer<typeof Details>

/** Lists the models of an Ollama server, last used first, with the facts it gives in time. */
async function queryOllama(baseUrl: string, signal: AbortSignal): Promise<FoundModels> {
  const root = baseUrl.replace(/\/v1$/, '')
  // Optional: an older server does not answer, but its models can still be called by name.
  const tryQuery = <Value>(schema: z.ZodType<Value>, path: string, body?: object) =>
    queryJson(`${root}${path}`, signal, body)
      .then((json) => schema.parse(json))
      .catch(() => null)
  const running = tryQuery(Running, '/api/ps')
  const { models } = Tags.parse(await queryJson(`${root}/api/tags`, signal))
  const [loaded, ...details] = await Promise.all([
    running,
    ...models.slice(0, detailedModelsMax).map(({ name }) => tryQuery(Details, '/api/show', { model: name })),
  ])
  return new Map(
    models.flatMap(({ name, remote_host }, index): [string, GivenFacts][] => {
      const detail = details[index] ?? {}
      if (detail.capabilities?.includes('completion') === false) return [] // for embeddings only
      const contextTokens = loaded?.models.find((one) => one.name === name)?.context_length
      const price = remote_host === undefined && { price: { input: 0, output: 0 } } // a remote host may cost money
      return [[name, { ...toFacts(detail), ...(contextTokens !== undefined && { contextTokens }), ...price }]]
    }),
  )
}

function toFacts({ capabilities, parameters, model_info = {} }: Details): GivenFacts {
  const configured = Number(/^num_ctx\s+(\d+)/m.exec(parameters ?? '')?.[1] ?? 0)
  const [, trained] = Object.entries(model_info).find(([name]) => name.endsWith('.context_length')) ?? []
  const contextTokens = configured > 0 ? configured : trained
  return {
    ...(typeof contextTokens === 'number' && contextTokens > 0 && { contextTokens: Math.floor(contextTokens) }),
    ...(capabilities && {
      tools: capabilities.includes('tools'),
      takes: capabilities.includes('vision') ? ['image/png', 'image/jpeg'] : [],
      thinkingLevels: capabilities.includes('thinking') ? ['off', 'low', 'medium', 'high'] : ['off'],
    }),
  }
}
