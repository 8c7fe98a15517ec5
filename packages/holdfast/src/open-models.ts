import { type Fault, fault, ModelName, ok, type Result, refuse } from '@holdfast/protocol'
import { builtInAsOf, type ModelCatalogue } from './providers/catalogue/catalogue.ts'
import { createRefreshedFacts, refreshCatalogue, refreshedPath } from './providers/catalogue/catalogue-file.ts'
import { createCredentials } from './providers/credentials/credentials.ts'
import { credentialsPath } from './providers/credentials/credentials-file.ts'
import type { CustomModels } from './providers/find-model.ts'
import { discoveryMsMax } from './providers/local/local-models.ts'
import { createModels, type DiscoveringModels } from './providers/models.ts'
import { registerServiceKeys, resolveServices, type Services } from './providers/services/registry.ts'
import { type ConfigOptions, type Configured, layerConfig } from './system/config/layers.ts'
import { configPath, readConfig } from './system/config/read-config.ts'
import type { Environment, Home } from './system/home.ts'

export type HomeModelsDeps = {
  readonly environment: Environment
  readonly home: Home
  readonly options?: ConfigOptions | undefined
  readonly extra?: CustomModels | undefined
  /** Hears what people should know of the files that are read. */
  readonly onNotice: (sentence: string) => void
}

export type HomeModels = {
  readonly models: DiscoveringModels
  readonly configured: Configured
  /** Variables that hold the key of a provider. */
  readonly keyNames: readonly string[]
  /** The day to which the prices hold. */
  readonly asOf: string
}

/**
 * The models as a person configured them, with the keys they have. Servers on this machine are asked in the background:
 * nothing waits for them until someone lists models, or a default depends on them. What cannot be so in the configuration
 * opens nothing.
 */
export async function openModels({
  environment,
  home,
  options = {},
  extra,
  onNotice,
}: HomeModelsDeps): Promise<Result<HomeModels>> {
  const misnamed = misnamedModel(extra)
  if (misnamed !== null) return refuse(misnamed)
  const path = configPath(home.configDir)
  const refreshed = createRefreshedFacts(refreshedPath(home.dataDir))
  const credentials = createCredentials({ environment, file: credentialsPath(home.configDir) })
  const [config, facts, keys] = await Promise.all([readConfig(path), refreshed.read(), credentials.refresh()])
  if (!config.ok) return config
  if (!facts.ok) return facts
  // A file of keys that cannot be read is told where a key is missed: those of the environment can still be used.
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
    services: services.value,
    choice: configured,
    refreshed,
    facts: configured.models,
    discoveryMs: configured.localModels ? discoveryMsMax : 0,
    onNotice,
  })
  const unknown = unknownModel(models, configured, path)
  if (unknown !== null) return refuse(unknown)
  void models.discover() // never rejects
  return ok({ models, configured, keyNames: keyNamesOf(services.value), asOf: refreshed.asOf() ?? builtInAsOf })
}

/** Takes the facts of a file in place of those of the last refresh. */
export async function takeCatalogue(
  file: string,
  { home, pid, nowMs }: { readonly home: Home; readonly pid: number; readonly nowMs: number },
): Promise<Result<ModelCatalogue>> {
  const path = configPath(home.configDir)
  const config = await readConfig(path)
  if (!config.ok) return config
  const services = resolveServices(config.value.providers)
  if (!services.ok) return refuse(inFile(path, services.fault))
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const target = refreshedPath(home.dataDir)
  return refreshCatalogue({ path: file, services: [...services.value.keys()], today, target, pid })
}

/** A model that a program brings under a name no session could have. */
function misnamedModel(extra: CustomModels = {}): Fault | null {
  const name = Object.keys(extra).find((one) => !ModelName.safeParse(one).success)
  if (name === undefined) return null
  const key = 'models'
  return fault(
    'bad_config',
    `The option models: '${name}' is no name of a model. Call it provider/model: own/${name}.`,
    { key },
  )
}

/** A model that was chosen, of a provider that does not exist: found now rather than at the first prompt. */
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
      const where = path === file ? `${path}: ${key}` : path // an option or a variable is its own name
      return fault('unknown_model', `${where}: ${found.message}`, { model: name, path, key })
    }
  }
  return null
}

const inFile = (path: string, { code, message, details }: Fault): Fault =>
  fault(code, `${path}: ${message}`, { path, ...details })

const keyNamesOf = (services: Services): readonly string[] => [...services.values()].flatMap(({ keyNames }) => keyNames)
