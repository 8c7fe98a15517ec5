import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { Clock, ModelReadiness, Models, Provider } from '@holdfast/core/ports'
import {
  didYouMean,
  done,
  type ListedModel,
  type ListedProvider,
  type ModelList,
  type ModelName,
  modelIdOf,
  orThrow,
  providerOf,
  type RotationEntry,
} from '@holdfast/protocol'
import type { Environment } from '../system/home.ts'
import { wallClock } from '../system/wall-clock.ts'
import { builtInFacts, createFacts, type Facts, type FactsByModel, type RefreshedFacts } from './catalogue/catalogue.ts'
import { type Connection, findConnectionProblem, keySourceOf, resolveConnection } from './connect/connection.ts'
import { createLazyProvider, createServiceProvider } from './connect/provider.ts'
import { type Credentials, createCredentials } from './credentials/credentials.ts'
import { createDemo, demoFacts, demoModel } from './demo/provider.ts'
import { createLocalModels, type LocalModels } from './local/local-models.ts'
import { isLocalAddress, redactAddress } from './services/address.ts'
import { resolveServices, type Service, type Services } from './services/registry.ts'

export type ModelsDeps = {
  /** Read at each lookup, so that a key added later is found. */
  readonly environment: Environment
  readonly extra?: CustomModels | undefined
  /** Without it, only keys of the environment are used. */
  readonly credentials?: Credentials | undefined
  readonly services?: Services | undefined
  readonly choice?: ModelChoice | undefined
  readonly refreshed?: RefreshedFacts | undefined
  /** Facts of the config, which override all others. */
  readonly facts?: FactsByModel | undefined
  /** The time limit for local servers: `discoveryMsMax` or less. Without it, no server is queried. */
  readonly discoveryMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Receives notices about the files that a refresh reads. */
  readonly onNotice?: ((sentence: string) => void) | undefined
}

/** The models port, with the discovery of local servers. */
export interface DiscoveringModels extends Models {
  /** Queries the local servers for their models. Never rejects. */
  discover(): Promise<void>
  /** Resolves when `defaultModel` is final: at once, unless it depends on local models. */
  settleDefault(): Promise<void>
  /** Stops all queries; known models can still be found. */
  close(): void
  /** Makes this the model of sessions that name none. */
  setDefault(model: ModelName): void
}

export function createModels(deps: ModelsDeps): DiscoveringModels {
  const { environment, extra = {}, choice = {}, refreshed, discoveryMs = 0, clock = wallClock, onNotice } = deps
  const credentials = deps.credentials ?? createCredentials({ environment, file: '' })
  const services = deps.services ?? orThrow(resolveServices())
  const listeners: (() => void)[] = []
  const onChanged = () => {
    for (const listener of listeners) listener()
  }
  const connectTo = (service: Service) => resolveConnection(service, environment, credentials)
  const connections = () => [...services.values()].map(connectTo)
  const connect = (model: ModelName): Connection | null => {
    const service = services.get(providerOf(model))
    return service === undefined ? null : connectTo(service)
  }
  const local = createLocalModels({ connections, discoveryMs, clock, onChanged })
  const facts = createFacts({
    layers: () => [{ [demoModel]: demoFacts }, builtInFacts, refreshed?.all() ?? {}, local.facts(), deps.facts ?? {}],
    sameAs: (provider) => services.get(provider)?.sameAs,
  })
  const custom = new Map(Object.entries(extra))
  const sources: Sources = { environment, custom, services, connect, facts, local }
  const find = (model: ModelName) => findModel(model, sources)

  function isOffline(model: ModelName): boolean {
    const connection = custom.has(model) ? null : connect(model)
    return connection !== null && local.isOffline(connection)
  }
  const isCallable = (model: ModelName) => !isOffline(model) && find(model).type === 'ready'
  let chosen = choice.model
  const findDefault = () => findChosenDefault(chosen, connections())
  const defaultModel = () => findDefault() ?? findLocalDefault(local.facts()) ?? demoModel

  return {
    find,
    defaultModel,
    rotation: () => (choice.rotation ?? []).filter(({ model }) => isCallable(model)),
    async fallback(model, tried) {
      const fallbacks = listFallbacks(choice, model, tried)
      const next = fallbacks.find((one) => isOffline(one) || isCallable(one))
      if (next !== undefined && isOffline(next)) await local.discover() // it may run by now
      return fallbacks.find(isCallable) ?? null
    },
    async list() {
      await local.discover()
      return listModels(sources, connections(), defaultModel())
    },
    async refresh() {
      const [keys, read] = await Promise.all([credentials.refresh(), refreshed?.read() ?? done, local.discover()])
      onChanged()
      if (!read.ok) onNotice?.(read.fault.message)
      if (!keys.ok) return keys
      for (const line of keys.value) onNotice?.(line)
      return done
    },
    onChanged: (listener) => void listeners.push(listener),
    discover: local.discover,
    settleDefault: async () => (findDefault() === null ? local.discovered() : undefined),
    close: local.close,
    setDefault(model) {
      chosen = model
      onChanged()
    },
  }
}

/** Models that an embedding program adds, by the name that people use: AI SDK models, or providers of its own. */
export type CustomModels = { readonly [name: ModelName]: LanguageModelV3 | LanguageModelV4 | Provider }

type Sources = {
  readonly environment: Environment
  readonly custom: ReadonlyMap<ModelName, CustomModels[ModelName]>
  readonly services: Services
  readonly connect: (model: ModelName) => Connection | null
  readonly facts: Facts
  readonly local: LocalModels
}

/** Returns a provider for a model, or why it cannot be called. Sends no request and loads no library. */
function findModel(model: ModelName, { custom, environment, services, connect, facts: all }: Sources): ModelReadiness {
  const facts = all.find(model)
  const { contextTokens, takes, thinkingLevels, price } = facts
  const known = {
    contextTokens: contextTokens ?? undefined,
    takes: takes ?? undefined,
    thinkingLevels: thinkingLevels ?? undefined,
    isPriced: price !== null,
  }
  const own = custom.get(model)
  // A provider of the program says itself what its calls cost.
  if (own !== undefined && 'stream' in own) return { type: 'ready', provider: own, ...known, isPriced: true }
  if (own !== undefined) {
    const options = { ...facts, title: providerOf(model) }
    const load = async () => (await import('./ai-sdk/provider.ts')).createAiSdkProvider(own, options)
    return { type: 'ready', provider: createLazyProvider(load), ...known }
  }
  if (model === demoModel) return { type: 'ready', provider: createDemo(environment), ...known }
  const connection = connect(model)
  if (connection === null)
    return { type: 'unknown_model', message: explainUnknown(model, services, [...custom.keys()]) }
  const problem = findConnectionProblem(connection)
  if (problem !== null) return { type: 'no_credentials', message: problem }
  const provider = createServiceProvider(modelIdOf(model), connection, facts)
  return { type: 'ready', provider, endpoint: redactAddress(connection.baseUrl), ...known }
}

function explainUnknown(model: ModelName, services: Services, custom: readonly ModelName[]): string {
  const withDefault = [...services.values()].filter(({ defaultModel }) => defaultModel)
  const names = [demoModel, ...withDefault.map(({ name, defaultModel }) => `${name}/${defaultModel}`), ...custom]
  const providers = [...services.keys()]
  const similar = didYouMean(model, names) || didYouMean(providerOf(model), providers)
  return `There is no model ${model}.${similar} Use ${names.join(', ')}, or any other model of ${providers.join(', ')}.`
}

/** The models that the config chooses. */
type ModelChoice = {
  /** For sessions that name no model. */
  readonly model?: ModelName | undefined
  readonly rotation?: readonly RotationEntry[] | undefined
  /** Tried in order when a model is overloaded. */
  readonly fallbacks?: readonly ModelName[] | undefined
}

/** Lists the fallbacks of a model: those after it in the chain, or the whole chain if it is not part of it. */
const listFallbacks = ({ fallbacks = [] }: ModelChoice, model: ModelName, tried: readonly ModelName[]) =>
  fallbacks.slice(fallbacks.indexOf(model) + 1).filter((next) => next !== model && !tried.includes(next))

/** Returns the configured default, or that of the first service with a key; null leaves it to local models. */
function findChosenDefault(model: ModelName | undefined, connections: readonly Connection[]): ModelName | null {
  if (model !== undefined) return model
  for (const { service, key } of connections)
    if (service.defaultModel !== undefined && key.type === 'found') return `${service.name}/${service.defaultModel}`
  return null
}

/** Returns the last used model of Ollama, preferably one that can call tools. */
function findLocalDefault(facts: FactsByModel): ModelName | null {
  const ollama = Object.entries(facts).filter(([model]) => providerOf(model) === 'ollama')
  const [model] = ollama.find(([, { tools }]) => tools === true) ?? ollama[0] ?? []
  return model ?? null
}

/** Lists all known models and their providers, with the reason why one cannot be used. */
function listModels(
  { custom, facts, local }: Sources,
  connections: readonly Connection[],
  defaultModel: ModelName,
): ModelList {
  const providers = connections.map((connection) => listProvider(connection, local))
  const ranks = new Map(providers.map(({ provider }, index) => [provider, index]))
  const rankOf = ({ model }: ListedModel) => ranks.get(providerOf(model)) ?? providers.length
  const explainUnusable = (model: ModelName): string | null => {
    if (model === demoModel || custom.has(model)) return null
    const provider = providers[ranks.get(providerOf(model)) ?? -1]
    if (provider !== undefined) return provider.unusable
    return `There is no provider ${providerOf(model)}. Add it to providers in the config.`
  }
  const names = new Set([defaultModel, demoModel, ...custom.keys(), ...facts.names()])
  const models = [...names].map((model): ListedModel => {
    const listed = { model, ...facts.find(model), unusable: explainUnusable(model) }
    return model === defaultModel ? { ...listed, isDefault: true } : listed
  })
  // By provider, in the order of the presets; within one, in the order of the catalogue.
  return { models: models.toSorted((one, other) => rankOf(one) - rankOf(other)), providers }
}

function listProvider(connection: Connection, local: LocalModels): ListedProvider {
  const { name, title } = connection.service
  const endpoint = redactAddress(connection.baseUrl) ?? null
  const offline = `No ${title} answers at ${endpoint}. Start it there, or configure its address.`
  const { service, isAddressGiven, baseUrl } = connection
  // We do not ask whether it runs, because other programs use the same port.
  const isUnnamed = service.isDiscoveredOnlyIfNamed === true && !isAddressGiven && isLocalAddress(baseUrl)
  const unnamed = `${title} is not set up. Set ${service.baseUrlNames[0]} to its address, such as ${endpoint}.`
  const problem = isUnnamed ? unnamed : local.isOffline(connection) ? offline : null
  const unusable = findConnectionProblem(connection) ?? problem
  const needsKey = connection.key.type === 'missing' ? { needsKey: true as const } : {}
  return { provider: name, title, endpoint, keyFrom: keySourceOf(connection), unusable, ...needsKey }
}
