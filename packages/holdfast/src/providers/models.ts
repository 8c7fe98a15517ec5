import type { Clock, Models } from '@holdfast/core/ports'
import { done, type ModelName, orThrow, providerOf } from '@holdfast/protocol'
import type { Environment } from '../system/home.ts'
import { wallClock } from '../system/wall-clock.ts'
import { builtInFacts, createFacts, type FactsByModel } from './catalogue/catalogue.ts'
import type { RefreshedFacts } from './catalogue/catalogue-file.ts'
import { findChosenDefault, findLocalDefault, listFallbacks, type ModelChoice } from './choice.ts'
import { type Connection, resolveConnection } from './connect/connection.ts'
import { type Credentials, createCredentials } from './credentials/credentials.ts'
import { demoFacts, demoModel } from './demo/provider.ts'
import { type CustomModels, findModel } from './find-model.ts'
import { listModels } from './list-models.ts'
import { createLocalModels } from './local/local-models.ts'
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
  const find = (model: ModelName) =>
    findModel(model, { custom, environment, services, connect, facts: facts.find(model) })

  function isOffline(model: ModelName): boolean {
    const connection = custom.has(model) ? null : connect(model)
    return connection !== null && local.isOffline(connection)
  }
  const isCallable = (model: ModelName) => !isOffline(model) && find(model).type === 'ready'
  const findDefault = () => findChosenDefault(choice, connections())
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
      return listModels({
        names: [demoModel, ...custom.keys(), ...facts.names()],
        custom,
        connections: connections(),
        local,
        findFacts: facts.find,
        defaultModel: defaultModel(),
      })
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
  }
}
