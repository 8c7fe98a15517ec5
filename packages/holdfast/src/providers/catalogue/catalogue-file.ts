import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { clip, escapeLine, type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { z } from 'zod'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import { ModelCatalogue } from './facts-by-model.ts'
import { PublicList, readPublicList } from './models-dev.ts'

/** The public list has a few megabytes. */
const fileBytesMax = 64 * 1024 * 1024

/** The facts that a refresh left, if one ever did. */
export async function readRefreshed(path: string): Promise<Result<ModelCatalogue | null>> {
  const said = await readJson(path)
  if (!said.ok) return said.fault.details?.['reason'] === 'missing' ? ok(null) : said
  const file = ModelCatalogue.safeParse(said.value)
  return file.success ? ok(file.data) : refuse(wrong(path, file.error))
}

export type GivenCatalogue = {
  readonly path: string
  /** Those whose models we can call. */
  readonly services: readonly string[]
  /** Today: the public list does not say its day. */
  readonly today: string
}

/** A file that a person gives: in our own form, or in that of models.dev. All of it is right, or nothing is taken. */
export async function readGivenCatalogue({ path, services, today }: GivenCatalogue): Promise<Result<ModelCatalogue>> {
  const said = await readJson(path)
  if (!said.ok) return said
  if (isOurs(said.value)) {
    const file = ModelCatalogue.safeParse(said.value)
    return file.success ? filled(path, file.data) : refuse(wrong(path, file.error))
  }
  const list = PublicList.safeParse(said.value)
  if (!list.success) return refuse(wrong(path, list.error))
  const models = readPublicList(list.data, services)
  return models.success ? filled(path, { asOf: today, models: models.data }) : refuse(wrong(path, models.error))
}

/** A service may be called anything in the public list, but it has no day. */
const isOurs = (said: unknown): boolean => typeof said === 'object' && said !== null && 'asOf' in said

function filled(path: string, file: ModelCatalogue): Result<ModelCatalogue> {
  if (Object.keys(file.models).length > 0) return ok(file)
  return refuse(fault('bad_request', `${path} names no model of a provider that Holdfast knows.`, { path }))
}

async function readJson(path: string): Promise<Result<unknown>> {
  let text: string
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe must not hold anyone up
    const size = await sizeOf(file)
    if (size === null) return refuse(fault('bad_request', `${path} is no file.`, { path }))
    if (size > fileBytesMax) return refuse(fault('too_large', `${path} is larger than any list of models.`, { path }))
    text = await file.readFile('utf8')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return refuse(fault('not_found', `There is no file ${path}.`, { path, reason: 'missing' }))
    return refuse(fault('storage_error', `${path} cannot be read: ${systemErrorWords(error)}.`, { path }))
  }
  try {
    return ok(JSON.parse(text))
  } catch {
    return refuse(fault('bad_request', `${path} is not JSON. Nothing was changed.`, { path }))
  }
}

async function sizeOf(file: FileHandle): Promise<number | null> {
  const found = await file.stat()
  return found.isFile() ? found.size : null
}

function wrong(path: string, error: z.ZodError): Fault {
  const [issue] = error.issues
  const key = clip(escapeLine((issue?.path ?? []).join(' › ')), 200)
  const where = key === '' ? '' : ` at ${key}`
  return fault('bad_request', `${path} is no list of models${where}: ${issue?.message ?? 'it is empty'}.`, {
    path,
    key,
  })
}
