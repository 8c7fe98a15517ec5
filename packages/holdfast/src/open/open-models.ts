import { type Fault, fault, ModelName, ok, type Result, refuse } from '@holdfast/protocol'
import {
  builtInAsOf,
  createRefreshedFacts,
  type ModelCatalogue,
  refreshCatalogue,
  refreshedPath,
} from '../providers/catalogue/catalogue.ts'
import { createCredentials, credentialsPath } from '../providers/credentials/credentials.ts'
import { discoveryMsMax } from '../providers/local/local-models.ts'
import { type CustomModels, createModels, type DiscoveringModels } from '../providers/models.ts'
import { registerServiceKeys, resolveServices, type Services } from '../providers/services/registry.ts'
import type { Config } from '../system/config/config.ts'
import {
  type ConfigOptions,
  type Configured,
  configPath,
  layerConfig,
  readConfig,
} from '../system/config/read-config.ts'
import type { Environment, Home } from '../system/home.ts'

type HomeModelsDeps = {
  readonly environment: Environment
  readonly home: Home
  readonly options?: ConfigOptions | undefined
  readonly extra?: CustomModels | undefined
  /** Called with warnings about the files that are read. */
  readonly onNotice: (sentence: string) => void
}

type HomeModels = {
  readonly models: DiscoveringModels
  readonly configured: Configured
  /** The variables that hold keys. */
  readonly keyNames: readonly string[]
  /** The day of the prices. */
  readonly asOf: string
}

/** Opens the configured models. Local servers are asked in the background; only what depends on their answers waits. */
export async function openModels(deps: HomeModelsDeps): Promise<Result<HomeModels>> {
  const { environment, home, options = {}, extra, onNotice } = deps
  const misnamed = misnamedModel(extra)
  if (misnamed !== null) return refuse(misnamed)
  const path = configPath(home.configDir)
  const refreshed = createRefreshedFacts(refreshedPath(home.dataDir))
  const credentials = createCredentials({ environment, file: credentialsPath(home.configDir) })
  const [config, facts, keys] = await Promise.all([readConfig(path), refreshed.read(), credentials.refresh()])
  if (!config.ok) return config
  if (!facts.ok) return facts
  // A malformed file of keys is only a warning, because keys of the environment still work.
  for (const line of keys.ok ? keys.value : [keys.fault.message]) onNotice(line)

  const layered = layerConfig({ file: { path, config: config.value }, environment, options })
  if (!layered.ok) return layered
  const configured = layered.value
  const services = resolveServices(configured.providers)
  if (!services.ok) return refuse(inFile(path, services.fault))
  registerServiceKeys(environment, services.value)
  const models = createModels({
    environment,
    extra,
    credentials,
    refreshed,
    onNotice,
    choice: configured,
    facts: configured.models,
    services: services.value,
    discoveryMs: configured.localModels ? discoveryMsMax : 0,
  })
  const unknown = unknownModel(models, configured, path)
  if (unknown !== null) return refuse(unknown)
  void models.discover() // never rejects
  return ok({ models, configured, keyNames: keyNamesOf(services.value), asOf: refreshed.asOf() ?? builtInAsOf })
}

/** Returns why no program could start with this configuration file: it names an unknown model. */
export async function findModelFault(config: Config, home: Home): Promise<Fault | null> {
  const path = configPath(home.configDir)
  const layered = layerConfig({ file: { path, config }, environment: {}, options: {} })
  if (!layered.ok) return layered.fault
  const services = resolveServices(layered.value.providers)
  if (!services.ok) return inFile(path, services.fault)
  const refreshed = createRefreshedFacts(refreshedPath(home.dataDir))
  await refreshed.read() // without its facts the models of the program itself are known
  const models = createModels({
    environment: {},
    refreshed,
    onNotice: () => undefined,
    choice: layered.value,
    facts: layered.value.models,
    credentials: createCredentials({ environment: {}, file: credentialsPath(home.configDir) }),
    services: services.value,
    discoveryMs: 0,
  })
  return unknownModel(models, layered.value, path)
}

type CatalogueDeps = { readonly home: Home; readonly pid: number; readonly nowMs: number }

/** Replaces the facts of the last refresh by those of a file. */
export async function takeCatalogue(file: string, given: CatalogueDeps): Promise<Result<ModelCatalogue>> {
  const { home, pid, nowMs } = given
  const path = configPath(home.configDir)
  const config = await readConfig(path)
  if (!config.ok) return config
  const services = resolveServices(config.value.providers)
  if (!services.ok) return refuse(inFile(path, services.fault))
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const target = refreshedPath(home.dataDir)
  return refreshCatalogue({ path: file, services: [...services.value.keys()], today, target, pid })
}

/** Returns a fault if a model of the program has an invalid name. */
function misnamedModel(extra: CustomModels = {}): Fault | null {
  const name = Object.keys(extra).find((one) => !ModelName.safeParse(one).success)
  const message = `The option models has an invalid name '${name}'. Use provider/model, for example own/${name}.`
  if (name !== undefined) return fault('bad_config', message, { key: 'models' })
  const wrong = Object.entries(extra).find(([, model]) => !isModel(model))?.[0]
  const why = `The option models has no model under '${wrong}'. Give a model of the AI SDK, or a Provider.`
  return wrong === undefined ? null : fault('bad_config', why, { key: 'models' })
}

/** Returns whether a value has the form of an AI SDK model or of a provider. */
const isModel = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('doStream' in value || 'stream' in value)

/** Returns a fault if a configured model has an unknown provider, now rather than at the first prompt. */
function unknownModel(models: DiscoveringModels, configured: Configured, file: string): Fault | null {
  const { model, titleModel, compactionModel, rotation, fallbacks, from } = configured
  const chosen: readonly (readonly [keyof Configured['from'], readonly (ModelName | undefined)[]])[] = [
    ['model', [model]],
    ['titleModel', [titleModel]],
    ['compactionModel', [compactionModel]],
    ['rotation', rotation.map((stop) => stop.model)],
    ['fallbacks', fallbacks],
  ]
  for (const [key, names] of chosen) {
    for (const name of names) {
      const found = name === undefined ? null : models.find(name)
      if (found?.type !== 'unknown_model') continue
      const path = from[key]
      const where = path === file ? `${path}: ${key}` : path // an option or a variable is named itself
      return fault('unknown_model', `${where}: ${found.message}`, { model: name, path, key })
    }
  }
  return null
}

const inFile = (path: string, { code, message, details }: Fault): Fault =>
  fault(code, `${path}: ${message}`, { path, ...details })

const keyNamesOf = (services: Services): readonly string[] => [...services.values()].flatMap(({ keyNames }) => keyNames)
