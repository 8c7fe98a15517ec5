import type { Clock, Models } from '@holdfast/core/ports'
import { done, invariant, type ModelName, providerOf } from '@holdfast/protocol'
import type { Environment } from '../system/environment.ts'
import { wallClock } from '../system/wall-clock.ts'
import { projectFacts } from './catalogue/catalogue.ts'
import type { FactsByModel } from './catalogue/facts-by-model.ts'
import { createKnownFacts } from './catalogue/known-facts.ts'
import type { RefreshedFacts } from './catalogue/refreshed-facts.ts'
import { type Choice, chosenDefault, fallbacksOf, localDefault, rotationOf } from './choice.ts'
import { type Reach, reachService } from './connect/reach.ts'
import { type Credentials, createCredentials } from './credentials/credentials.ts'
import { demoFacts, demoModel } from './demo-model.ts'
import { type BroughtModels, findModel } from './find-model.ts'
import { listModels } from './list-models.ts'
import { createLocalModels } from './local/local-models.ts'
import { type KnownServices, knownServices } from './services/known.ts'

export type ModelsDeps = {
  /** Read anew at each look: a key added later is found. */
  readonly environment: Environment
  readonly extra?: BroughtModels | undefined
  /** Those of the environment alone when absent. */
  readonly credentials?: Credentials | undefined
  readonly services?: KnownServices | undefined
  readonly choice?: Choice | undefined
  /** What the last refresh of the catalogue left. */
  readonly refreshed?: RefreshedFacts | undefined
  /** What a person says of models, which has the last word. */
  readonly facts?: FactsByModel | undefined
  /** How long servers on this machine are asked for their models: `lookMsMax`, or less. Nobody is asked when absent. */
  readonly lookMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Hears what people should know of the files that a refresh reads. */
  readonly onNotice?: ((sentence: string) => void) | undefined
}

/** The port, and what only the one who made it needs. */
export interface LookingModels extends Models {
  /** Asks the servers on this machine for their models. Nobody need wait for it; it never rejects. */
  look(): Promise<void>
  /** Resolves when `defaultModel` is what it will be: at once, unless it is left to what runs on this machine. */
  settleDefault(): Promise<void>
  /** Asks nobody any more; what is known can still be found. */
  close(): void
}

export function createModels(parts: ModelsDeps): LookingModels {
  const { environment, extra = {}, choice = {}, refreshed, lookMs = 0, clock = wallClock, onNotice } = parts
  const credentials = parts.credentials ?? createCredentials({ environment, file: '' })
  const services = parts.services ?? presetServices()
  const listeners: (() => void)[] = []
  const onChanged = () => {
    for (const listener of listeners) listener()
  }
  const reachAll = () => [...services.values()].map((service) => reachService(service, environment, credentials))
  const reach = (model: ModelName): Reach | null => {
    const service = services.get(providerOf(model))
    return service === undefined ? null : reachService(service, environment, credentials)
  }
  const local = createLocalModels({ reach: reachAll, lookMs, clock, onChanged })
  const facts = createKnownFacts({
    layers: () => [{ [demoModel]: demoFacts }, projectFacts, refreshed?.all() ?? {}, local.facts(), parts.facts ?? {}],
    sameAs: (provider) => services.get(provider)?.sameAs,
  })
  const brought = new Map(Object.entries(extra))
  const find = (model: ModelName) => findModel(model, { brought, environment, services, reach, facts: facts.of(model) })

  /** A server on this machine that is asked, and does not answer, cannot be called. */
  function isAway(model: ModelName): boolean {
    const found = brought.has(model) ? null : reach(model)
    return found !== null && local.isAway(found)
  }
  const isCallable = (model: ModelName) => !isAway(model) && find(model).type === 'ready'
  const chosen = () => chosenDefault(choice, reachAll())
  const defaultModel = () => chosen() ?? localDefault(local.facts()) ?? demoModel

  return {
    find,
    defaultModel,
    rotation: () => rotationOf(choice, isCallable),
    async fallback(model, tried) {
      const behind = fallbacksOf(choice, model, tried)
      const next = behind.find((one) => isAway(one) || isCallable(one))
      if (next !== undefined && isAway(next)) await local.look() // it may have been started since
      return behind.find(isCallable) ?? null
    },
    async list() {
      await local.look()
      const names = [demoModel, ...brought.keys(), ...facts.names()]
      const known = { names, brought: new Set(brought.keys()), factsOf: facts.of, defaultModel: defaultModel() }
      return listModels({ ...known, reach: reachAll(), local })
    },
    async refresh() {
      const [keys, read] = await Promise.all([credentials.refresh(), refreshed?.read() ?? done, local.look()])
      onChanged()
      if (!read.ok) onNotice?.(read.fault.message)
      if (!keys.ok) return keys
      for (const line of keys.value) onNotice?.(line)
      return done
    },
    onChanged: (listener) => void listeners.push(listener),
    look: local.look,
    settleDefault: async () => (chosen() === null ? local.looked() : undefined),
    close: local.close,
  }
}

function presetServices(): KnownServices {
  const known = knownServices()
  invariant(known.ok, 'our own services are well-formed')
  return known.value
}
