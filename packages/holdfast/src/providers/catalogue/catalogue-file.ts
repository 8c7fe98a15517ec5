import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { clip, done, escapeLine, type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { z } from 'zod'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import { type FactsByModel, ModelCatalogue } from './catalogue.ts'
import { PublicList, readPublicList } from './models-dev.ts'

/** The public list has a few megabytes. */
const fileBytesMax = 64 * 1024 * 1024

export const refreshedPath = (dataDir: string): string => join(dataDir, 'models.json')

/** The facts of the last refresh, as last read from disk. */
export interface RefreshedFacts {
  all(): FactsByModel
  /** The date of the facts; null without a refresh. */
  asOf(): string | null
  /** Reads the file again. If that fails, the old facts stay. */
  read(): Promise<Result<undefined>>
}

export function createRefreshedFacts(path: string): RefreshedFacts {
  let file: ModelCatalogue | null = null
  return {
    all: () => file?.models ?? {},
    asOf: () => file?.asOf ?? null,
    async read() {
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

export type CatalogueRefresh = {
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
  const written = file.value.keep()
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
