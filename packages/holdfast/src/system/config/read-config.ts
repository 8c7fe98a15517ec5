import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cap, fault, ok, type Result, type RotationEntry, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { Environment } from '../home.ts'
import { systemErrorCode, systemErrorWords } from '../system-error.ts'
import { Config } from './config.ts'
import { configFault } from './config-fault.ts'

const fileBytesMax = 1024 * 1024

export const configPath = (configDir: string): string => join(configDir, 'config.json')

/** Reads the user's file; an absent file is empty. It is parsed as JSON and never run. */
export async function readConfig(path: string): Promise<Result<Config>> {
  const text = await readText(path)
  if (!text.ok) return text
  if (text.value === null) return ok({})
  let json: unknown
  try {
    json = JSON.parse(text.value.replace(/^\ufeff/, ''))
  } catch (error) {
    const where = /line \d+ column \d+/.exec(String(error))?.[0]
    return bad(path, `is not JSON${where === undefined ? '' : `, from ${where} on`}`)
  }
  const config = Config.safeParse(json, { reportInput: true })
  return config.success ? ok(config.data) : refuse(configFault(path, config.error))
}

async function readText(path: string): Promise<Result<string | null>> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe must not hold the start up
    const found = await file.stat()
    if (!found.isFile()) return bad(path, 'is not a file')
    if (found.size > fileBytesMax) return bad(path, 'is far too long for a configuration')
    return ok(await file.readFile('utf8'))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(null)
    return bad(path, `cannot be read: ${systemErrorWords(error)}`)
  }
}

const bad = (path: string, why: string): Result<never> => refuse(fault('bad_config', `${path} ${why}.`, { path }))

/** Settings that a program may pass when it opens the runtime. */
export type ConfigOptions = {
  /** The model of sessions that name none: `provider/model`. By default the configured one, else one with a key. */
  readonly model?: string | undefined
  /** The model that titles sessions after their first turn. Without it, their first line is the title. */
  readonly titleModel?: string | undefined
  /** The model that writes summaries if its context is large enough; else the session's own. */
  readonly compactionModel?: string | undefined
  /** The models that `cycleModel` cycles through; an entry may have a thinking level. */
  readonly rotation?: readonly (string | RotationEntry)[] | undefined
  /** Tried in order when a model is overloaded or unreachable. */
  readonly fallbacks?: readonly string[] | undefined
  /** Whether commands run in a sandbox: `auto` (the default) where bubblewrap works, `on` or not at all, `off` never. */
  readonly sandbox?: 'auto' | 'on' | 'off' | undefined
  /** Whether commands in the sandbox have the network; by default only those that a rule or a person allows it. */
  readonly sandboxNetwork?: boolean | undefined
  /** What model calls may cost in a day: in all, for a token or for a workspace. The caps of the configuration and of the store apply too. */
  readonly caps?: readonly Cap[] | undefined
}

/** One layer: its values, and its name for error messages. */
type Layer = { readonly from: (key: Layered) => string; readonly get: (key: Layered) => unknown }

const layered = [
  ...(['model', 'titleModel', 'compactionModel', 'rotation', 'fallbacks', 'localModels'] as const),
  ...(['sandbox', 'sandboxNetwork'] as const),
] as const
type Layered = (typeof layered)[number]

const variables: { readonly [Key in Layered]: string } = {
  model: 'HOLDFAST_MODEL',
  titleModel: 'HOLDFAST_TITLE_MODEL',
  compactionModel: 'HOLDFAST_COMPACTION_MODEL',
  rotation: 'HOLDFAST_ROTATION',
  fallbacks: 'HOLDFAST_FALLBACKS',
  localModels: 'HOLDFAST_LOCAL_MODELS',
  sandbox: 'HOLDFAST_SANDBOX',
  sandboxNetwork: 'HOLDFAST_SANDBOX_NETWORK',
}

type Given =
  | ('fallbacks' | 'localModels' | 'providers' | 'models' | 'fetchHosts' | 'shellEnvironment' | 'hooks')
  | ('sandbox' | 'sandboxNetwork' | 'caps')
export type Configured = Pick<Config, 'model' | 'titleModel' | 'compactionModel' | 'rateLimit'> & {
  readonly [Key in Given]: NonNullable<Config[Key]>
} & {
  readonly rotation: readonly RotationEntry[]
  /** The source of each setting, for error messages. */
  readonly from: { readonly [Key in Layered]?: string }
}

type ConfigLayers = {
  readonly file: { readonly path: string; readonly config: Config }
  readonly environment: Environment
  readonly options: ConfigOptions
}

/** Merges the layers: options override variables, which override the file. */
export function layerConfig({ file, environment, options }: ConfigLayers): Result<Configured> {
  const layers: readonly Layer[] = [
    { from: (key) => `The option ${key}`, get: (key) => Object.entries(options).find(([name]) => name === key)?.[1] },
    { from: (key) => variables[key], get: (key) => fromVariable(key, environment[variables[key]]) },
    { from: () => file.path, get: (key) => file.config[key] },
  ]
  const values: { [key: string]: unknown } = {}
  const from: { [Key in Layered]?: string } = {}
  for (const key of layered) {
    const layer = layers.find(({ get }) => get(key) !== undefined)
    if (layer === undefined) continue
    const value = schemaOf(key, layer.from(key)).safeParse(layer.get(key), { reportInput: true })
    if (!value.success) return refuse(configFault(layer.from(key), at(key, value.error)))
    values[key] = value.data
    from[key] = layer.from(key)
  }
  const {
    rotation = [],
    fallbacks = [],
    localModels = true,
    sandbox = 'auto',
    sandboxNetwork = false,
    ...models
  } = values as Config // each by its own schema
  const { providers = {}, models: facts = {}, fetchHosts = [], shellEnvironment = [], hooks = {} } = file.config
  const added = Config.shape.caps.safeParse(options.caps, { reportInput: true })
  if (!added.success) return refuse(configFault('The option caps', at('caps', added.error)))
  const caps = [...(file.config.caps ?? []), ...(added.data ?? [])] // all apply together
  const stops = rotation.map((stop) => (typeof stop === 'string' ? { model: stop } : stop))
  const given = { providers, models: facts, fetchHosts, shellEnvironment, hooks, sandbox, sandboxNetwork, caps }
  return ok({ ...models, ...given, rateLimit: file.config.rateLimit, rotation: stops, fallbacks, localModels, from })
}

/** Parses a variable: models separated by commas, a thinking level after `=`. Empty counts as unset. */
function fromVariable(key: Layered, given: string | undefined): unknown {
  const text = given?.trim() ?? ''
  if (text === '') return undefined
  if (key !== 'rotation' && key !== 'fallbacks') return text
  const names = text.split(',').flatMap((name) => name.trim() || [])
  if (key === 'fallbacks') return names
  return names.map((name) => {
    const [model = '', thinkingLevel] = name.split('=')
    return thinkingLevel === undefined ? model : { model, thinkingLevel }
  })
}

const on = /^(on|true|yes|1)$/i
const off = /^(off|false|no|0)$/i
/** A boolean as text. */
const Switch = z
  .string()
  .refine((text) => on.test(text) || off.test(text), 'it is on or off')
  .transform((text) => on.test(text))

const schemaOf = (key: Layered, from: string): z.ZodType =>
  (key === 'localModels' || key === 'sandboxNetwork') && from === variables[key] ? Switch : Config.shape[key]

const at = (key: string, error: z.ZodError): z.ZodError =>
  new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [key, ...issue.path] })))
