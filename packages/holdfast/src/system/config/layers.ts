import { type ModelName, ok, type Result, type RotationEntry, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { Environment } from '../home.ts'
import { Config } from './config.ts'
import { configFault } from './config-fault.ts'

/** Settings that a program may pass when it opens the runtime. */
export type ConfigOptions = {
  /** The model of sessions that name none: `provider/model`. By default what is configured, else what there is a key for. */
  readonly model?: string | undefined
  /** A model that names the sessions nobody named, after their first turn. Without it, their first line does. */
  readonly titleModel?: string | undefined
  /** A model that writes summaries, where it holds what is to be summarised; else the session's own does. */
  readonly compactionModel?: string | undefined
  /** What `cycleModel` goes round; an entry may carry a thinking level. */
  readonly rotation?: readonly (string | RotationEntry)[] | undefined
  /** Tried one after the other when a model is overloaded or out of reach. */
  readonly fallbacks?: readonly string[] | undefined
}

/** One layer: its values, and its name for error messages. */
type Layer = { readonly from: (key: Layered) => string; readonly says: (key: Layered) => unknown }

const layered = ['model', 'titleModel', 'compactionModel', 'rotation', 'fallbacks', 'localModels'] as const
type Layered = (typeof layered)[number]

const variables: { readonly [Key in Layered]: string } = {
  model: 'HOLDFAST_MODEL',
  titleModel: 'HOLDFAST_TITLE_MODEL',
  compactionModel: 'HOLDFAST_COMPACTION_MODEL',
  rotation: 'HOLDFAST_ROTATION',
  fallbacks: 'HOLDFAST_FALLBACKS',
  localModels: 'HOLDFAST_LOCAL_MODELS',
}

export type Configured = {
  readonly model?: ModelName | undefined
  readonly titleModel?: ModelName | undefined
  readonly compactionModel?: ModelName | undefined
  readonly rotation: readonly RotationEntry[]
  readonly fallbacks: readonly ModelName[]
  readonly localModels: boolean
  readonly providers: NonNullable<Config['providers']>
  readonly models: NonNullable<Config['models']>
  /** The source of each setting, for error messages. */
  readonly from: { readonly [Key in Layered]?: string }
}

export type ConfigLayers = {
  readonly file: { readonly path: string; readonly config: Config }
  readonly environment: Environment
  readonly options: ConfigOptions
}

/** Merges the layers: options override variables, which override the file. */
export function layerConfig({ file, environment, options }: ConfigLayers): Result<Configured> {
  const layers: readonly Layer[] = [
    { from: (key) => `The option ${key}`, says: (key) => Object.entries(options).find(([name]) => name === key)?.[1] },
    { from: (key) => variables[key], says: (key) => fromVariable(key, environment[variables[key]]) },
    { from: () => file.path, says: (key) => file.config[key] },
  ]
  const said: { [key: string]: unknown } = {}
  const from: { [Key in Layered]?: string } = {}
  for (const key of layered) {
    const layer = layers.find(({ says }) => says(key) !== undefined)
    if (layer === undefined) continue
    const value = schemaOf(key, layer.from(key)).safeParse(layer.says(key), { reportInput: true })
    if (!value.success) return refuse(configFault(layer.from(key), at(key, value.error)))
    said[key] = value.data
    from[key] = layer.from(key)
  }
  const { rotation = [], fallbacks = [], localModels = true, ...models } = said as Config // each by its own schema
  const { providers = {}, models: facts = {} } = file.config
  const stops = rotation.map((stop) => (typeof stop === 'string' ? { model: stop } : stop))
  return ok({ ...models, rotation: stops, fallbacks, localModels, providers, models: facts, from })
}

/** As a person writes it into a variable: models behind commas, a stop's thinking level behind `=`. Set to nothing is not set. */
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
/** A variable is a text, whatever it says. */
const Switch = z
  .string()
  .refine((text) => on.test(text) || off.test(text), 'it is on or off')
  .transform((text) => on.test(text))

const schemaOf = (key: Layered, from: string): z.ZodType =>
  key === 'localModels' && from === variables[key] ? Switch : Config.shape[key]

const at = (key: string, error: z.ZodError): z.ZodError =>
  new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [key, ...issue.path] })))
