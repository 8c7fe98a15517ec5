import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  clip,
  completePrice,
  done,
  escapeLine,
  type Fault,
  fault,
  GivenFacts,
  type ModelFacts,
  ModelName,
  modelIdOf,
  ok,
  providerOf,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { z } from 'zod'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import builtIn from './models.json' with { type: 'json' }

export const FactsByModel = z.record(ModelName, GivenFacts)
export type FactsByModel = { readonly [model: ModelName]: GivenFacts }

/** A file of model facts: the built-in one, and the one that a refresh writes. */
export const ModelCatalogue = z.strictObject({
  /** The date of the prices. */
  asOf: z.iso.date(),
  models: FactsByModel,
})
export type ModelCatalogue = z.infer<typeof ModelCatalogue>

export const builtInAsOf: string = builtIn.asOf
export const builtInFacts = builtIn.models as FactsByModel // JSON has no literal types; a test checks the schema

const noFacts: ModelFacts = {
  title: null,
  contextTokens: null,
  outputTokens: null,
  price: null,
  takes: null,
  tools: null,
  thinkingLevels: null,
}

/** The date at the end of a model's version: `claude-haiku-4-5-20251001`, `gpt-5-2025-08-07`. */
const versionDate = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** Merges the facts of a model, field by field; later layers win. */
export function mergeFacts(model: ModelName, layers: readonly FactsByModel[]): ModelFacts {
  const undated = model.replace(versionDate, '')
  let facts = noFacts
  for (const layer of layers) {
    const name = [model, undated].find((one) => Object.hasOwn(layer, one))
    const { price, ...given } = (name !== undefined && layer[name]) || {}
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    facts = { ...facts, ...known, ...(price !== undefined && { price: price && completePrice(price) }) }
  }
  return facts
}

type FactsDeps = {
  /** The current layers; later ones win. */
  readonly layers: () => readonly FactsByModel[]
  /** Returns the provider with the same models behind another API. */
  readonly sameAs: (provider: string) => string | undefined
}

export type Facts = ReturnType<typeof createFacts>

/** The merged facts of all models. */
export const createFacts = ({ layers, sameAs }: FactsDeps) => ({
  find(model: ModelName): ModelFacts {
    const all = layers()
    const same = sameAs(providerOf(model))
    if (same === undefined) return mergeFacts(model, all)
    return mergeFacts(model, [{ [model]: mergeFacts(`${same}/${modelIdOf(model)}`, all) }, ...all])
  },
  /** Lists the models with any facts. */
  names: (): readonly ModelName[] => layers().flatMap(Object.keys),
})

/** The public list has a few megabytes. */
const fileBytesMax = 64 * 1024 * 1024

export const refreshedPath = (dataDir: string): string => join(dataDir, 'models.json')

export type RefreshedFacts = ReturnType<typeof createRefreshedFacts>

/** The facts of the last refresh, as last read from disk. */
export function createRefreshedFacts(path: string) {
  let file: ModelCatalogue | null = null
  return {
    all: (): FactsByModel => file?.models ?? {},
    /** The date of the facts; null without a refresh. */
    asOf: () => file?.asOf ?? null,
    /** Reads the file again. If that fails, the old facts stay. */
    async read(): Promise<Result<undefined>> {
      const json = await readJson(path)
      const isMissing = !json.ok && json.fault.details?.['reason'] === 'missing'
      if (!json.ok && !isMissing) return json
      const parsed = json.ok ? parseCatalogue(path, json.value) : ok(null)
      if (!parsed.ok) return parsed
      file = parsed.value
      return done
    },
  }
}

type CatalogueRefresh = {
  /** The file that a person gives, in our format or in that of models.dev. */
  readonly path: string
  /** The services whose models can be called. */
  readonly services: readonly string[]
  /** The date for the public list, which has none. */
  readonly today: string
  /** Where to write the facts. */
  readonly target: string
  readonly pid: number
}

/** Replaces the facts of the last refresh. Checks the whole file before it writes anything. */
export async function refreshCatalogue(refresh: CatalogueRefresh): Promise<Result<ModelCatalogue>> {
  const { path, target, pid } = refresh
  const given = await readGivenFile(refresh)
  if (!given.ok) return given
  if (Object.keys(given.value.models).length === 0)
    return refuse(fault('bad_request', `${path} has no model of a provider that Holdfast knows.`, { path }))
  ensurePrivateDirectory(dirname(target))
  const file = openAtomicFile(target, { replaces: true, pid })
  if (!file.ok) return file
  await file.value.write(`${JSON.stringify(given.value, null, 2)}\n`)
  const written = file.value.commit()
  return written.ok ? given : written
}

async function readGivenFile({ path, services, today }: CatalogueRefresh): Promise<Result<ModelCatalogue>> {
  const json = await readJson(path)
  if (!json.ok) return json
  // The public list may name a service anything, but it has no date.
  if (typeof json.value === 'object' && json.value !== null && 'asOf' in json.value)
    return parseCatalogue(path, json.value)
  const list = PublicList.safeParse(json.value)
  if (!list.success) return refuse(describeIssue(path, list.error))
  const models = readPublicList(list.data, services)
  return models.success ? ok({ asOf: today, models: models.data }) : refuse(describeIssue(path, models.error))
}

function parseCatalogue(path: string, json: unknown): Result<ModelCatalogue> {
  const file = ModelCatalogue.safeParse(json)
  return file.success ? ok(file.data) : refuse(describeIssue(path, file.error))
}

async function readJson(path: string): Promise<Result<unknown>> {
  let text: string
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe must not block us
    const stat = await file.stat()
    if (!stat.isFile()) return refuse(fault('bad_request', `${path} is not a file.`, { path }))
    if (stat.size > fileBytesMax)
      return refuse(fault('too_large', `${path} is too large for a list of models.`, { path }))
    text = await file.readFile('utf8')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return refuse(fault('not_found', `${path} does not exist.`, { path, reason: 'missing' }))
    return refuse(fault('storage_error', `${path} cannot be read: ${systemErrorWords(error)}.`, { path }))
  }
  try {
    return ok(JSON.parse(text))
  } catch {
    return refuse(fault('bad_request', `${path} is not JSON. Nothing was changed.`, { path }))
  }
}

function describeIssue(path: string, error: z.ZodError): Fault {
  const [issue] = error.issues
  const key = clip(escapeLine((issue?.path ?? []).join(' › ')), 200)
  const message = `${path} is not a list of models${key && ` at ${key}`}: ${issue?.message ?? 'it is empty'}.`
  return fault('bad_request', message, { path, key })
}

const dollars = z.number().min(0)
const tokens = z.int().min(0)

/** The fields that we read of a model in the public list of models.dev (`api.json`). */
const PublicModel = z.looseObject({
  name: z.string().optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  modalities: z.looseObject({ input: z.array(z.string()), output: z.array(z.string()).optional() }).optional(),
  limit: z.looseObject({ context: tokens.optional(), output: tokens.optional() }).optional(),
  cost: z
    .looseObject({ input: dollars, output: dollars, cache_read: dollars.optional(), cache_write: dollars.optional() })
    .optional(),
})
type PublicModel = z.infer<typeof PublicModel>

const PublicList = z.record(z.string(), z.looseObject({ models: z.record(z.string(), z.unknown()).default({}) }))

const PublicModels = z.record(z.string(), PublicModel)

/** Converts the models of the given services. Other services are not read, so errors in them do not matter. */
function readPublicList(list: z.infer<typeof PublicList>, services: readonly string[]) {
  const facts: { [model: ModelName]: GivenFacts } = {}
  for (const service of services) {
    if (!Object.hasOwn(list, service)) continue
    const models = PublicModels.safeParse(list[service]?.models)
    if (!models.success) {
      const issues = models.error.issues.map((issue) => ({ ...issue, path: [service, 'models', ...issue.path] }))
      return { success: false as const, error: new z.ZodError(issues) }
    }
    for (const [id, model] of Object.entries(models.data)) {
      const name = `${service}/${id}`
      const isText = model.modalities?.output?.includes('text') ?? true
      if (isText && !/\s/.test(name)) facts[name] = toFacts(model)
    }
  }
  return { success: true as const, data: facts }
}

function toFacts({ name, reasoning, tool_call, modalities, limit, cost }: PublicModel): GivenFacts {
  const { context, output } = limit ?? {}
  return {
    ...(name !== undefined && { title: name }),
    ...(context && { contextTokens: context }), // the list uses 0 for unknown
    ...(output && { outputTokens: output }),
    ...(cost && {
      price: { input: cost.input, output: cost.output, cacheRead: cost.cache_read, cacheWrite: cost.cache_write },
    }),
    ...(modalities && { takes: toMediaTypes(modalities.input) }),
    ...(tool_call !== undefined && { tools: tool_call }),
    // The list says whether a model thinks, but not at which levels.
    ...(reasoning === false && { thinkingLevels: ['off' as const] }),
  }
}

const toMediaTypes = (inputs: readonly string[]): string[] =>
  [inputs.includes('image') ? 'image/*' : '', inputs.includes('pdf') ? 'application/pdf' : ''].filter(Boolean)
