import { resolve } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Home } from '../../system/home.ts'

/** Where a store lies, and its blobs beside it. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly url: string; readonly path: string; readonly blobsDir: string }
  | { readonly kind: 'jsonl'; readonly url: string; readonly path: string; readonly blobsDir: string }
  | { readonly kind: 'memory'; readonly url: string }

/** A store that outlives its process. */
export type DiskLocation = Exclude<StoreLocation, { readonly kind: 'memory' }>

export type StoreHome = Pick<Home, 'storePath' | 'blobsDir'>

/** What `sqlite:PATH`, `jsonl:DIR` or `memory:` stands for; without a word, the store of this home. */
export function parseStoreUrl(url: string | undefined, home: StoreHome): Result<StoreLocation> {
  const asked = url ?? `sqlite:${home.storePath}`
  if (asked === 'memory:') return ok({ kind: 'memory', url: asked })
  const [, kind, place = ''] = /^(sqlite|jsonl):(.+)$/s.exec(asked) ?? []
  if (kind === 'sqlite') return ok(sqliteAt(resolve(place), home))
  if (kind === 'jsonl') return ok(jsonlAt(resolve(place)))
  const message = `There is no store ${asked}. A store is sqlite:PATH, jsonl:DIR or memory:.`
  return refuse(fault('bad_request', message, { store: asked }))
}

/** The same, where only a store that is kept will do. */
export function parseDiskUrl(url: string | undefined, home: StoreHome): Result<DiskLocation> {
  const place = parseStoreUrl(url, home)
  if (!place.ok) return place
  return place.value.kind === 'memory' ? refuse(holdsNothing) : ok(place.value)
}

const holdsNothing: Fault = fault(
  'bad_request',
  'A store in memory: ends with its process, so nothing is kept there; name sqlite:PATH or jsonl:DIR.',
  { store: 'memory:' },
)

/** A store by its form and path, wherever the home is. */
export const diskLocationAt = (kind: DiskLocation['kind'], path: string): DiskLocation =>
  kind === 'sqlite' ? sqliteAt(path) : jsonlAt(path)

/** Blobs lie beside the file that refers to them. */
const sqliteAt = (path: string, home?: StoreHome): DiskLocation => ({
  kind: 'sqlite',
  url: `sqlite:${path}`,
  path,
  blobsDir: home !== undefined && path === resolve(home.storePath) ? home.blobsDir : `${path}.blobs`,
})

const jsonlAt = (directory: string): DiskLocation => ({
  kind: 'jsonl',
  url: `jsonl:${directory}`,
  path: directory,
  blobsDir: `${directory}/blobs`,
})
