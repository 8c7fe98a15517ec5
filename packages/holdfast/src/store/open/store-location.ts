import { resolve } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Home } from '../../system/home.ts'
import { ownNames } from '../jsonl/files/own-names.ts'
import { isPostgresUrl, type PostgresLocation, parsePostgresUrl } from '../postgres/connect/postgres-url.ts'

type DiskKind = 'sqlite' | 'jsonl'

/** The location of a store on disk, and of its blobs. */
export type DiskLocation = {
  readonly kind: DiskKind
  readonly url: string
  readonly path: string
  readonly blobsDir: string
}
/** `own`: a store that the embedding program brings; only the program knows where it is. */
export type StoreLocation = UrlLocation | { readonly kind: 'own'; readonly url: string }
/** The location that a URL names. */
export type UrlLocation = SavedLocation | { readonly kind: 'memory'; readonly url: string }
/** The location of a store that outlives its process: on this disk, or in a database. */
export type SavedLocation = DiskLocation | PostgresLocation

/** Returns whether a store has files here. The others are in a database, which several machines may use. */
export const isOnDisk = (location: SavedLocation): location is DiskLocation => location.kind !== 'postgres'

export type StoreHome = Pick<Home, 'storePath' | 'blobsDir'>

/** Parses `sqlite:PATH`, `jsonl:DIR`, `postgres://…` or `memory:`. Without a URL, returns the store of the home directory. */
export function parseStoreUrl(url: string | undefined, home: StoreHome): Result<UrlLocation> {
  const text = url ?? `sqlite:${home.storePath}`
  if (text === 'memory:') return ok({ kind: 'memory', url: text })
  if (isPostgresUrl(text)) return parsePostgresUrl(text)
  const [, kind = '', path = ''] = /^([a-z]+):(.+)$/s.exec(text) ?? []
  if (isDiskKind(kind)) return ok(locate[kind](resolve(path), home))
  const shown = withoutLogin(text)
  const message = `${shown} is not a store URL. Use sqlite:PATH, jsonl:DIR, postgres://HOST/DATABASE or memory:.`
  return refuse(fault('bad_request', message, { store: shown }))
}

/** Leaves out what may be a password: a misspelt URL of a database has one too. */
const withoutLogin = (text: string): string => text.replace(/.*@/s, '…@').replace(/\?.*/s, '')

/** Returns the URL that opens a store. The one of a database contains its password, so it is never shown. */
export const urlToOpen = (location: StoreLocation): string =>
  location.kind === 'postgres' ? location.secretUrl : location.url

/** Returns where the store of the option `store` is: that of a URL, or one of the program. */
export const locateStore = (given: string | object | undefined, home: StoreHome): Result<StoreLocation> =>
  typeof given === 'object' ? ok({ kind: 'own', url: 'own:' }) : parseStoreUrl(given, home)

/** The same as `parseStoreUrl`, but refuses memory:. */
export function parseSavedUrl(url: string | undefined, home: StoreHome): Result<SavedLocation> {
  const location = parseStoreUrl(url, home)
  if (!location.ok) return location
  return location.value.kind === 'memory' ? refuse(notSaved) : ok(location.value)
}

/** The same, but also refuses a database: for work on files. */
export function parseDiskUrl(url: string | undefined, home: StoreHome): Result<DiskLocation> {
  const location = parseSavedUrl(url, home)
  if (!location.ok) return location
  return isOnDisk(location.value) ? ok(location.value) : refuse(notOnDisk(location.value))
}

const notSaved: Fault = fault(
  'bad_request',
  'The store memory: ends with its process, so nothing is saved there. Use sqlite:PATH or jsonl:DIR.',
  { store: 'memory:' },
)

/** Says that a store has no files here. */
export const notOnDisk = ({ url }: Pick<PostgresLocation, 'url'>): Fault =>
  fault(
    'bad_request',
    `The store ${url} has no files here. Use the tools of PostgreSQL, such as pg_dump, or copy it with holdfast migrate.`,
    { store: url },
  )

/** Returns the location of a store outside the home directory. */
export const diskLocationAt = (kind: DiskKind, path: string): DiskLocation => locate[kind](path)

/** Blobs are stored beside the file that refers to them. */
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

const locate: Record<DiskKind, (path: string, home?: StoreHome) => DiskLocation> = { sqlite: sqliteAt, jsonl: jsonlAt }

/** Returns the files and directories of a store and its mirror, which no tool of an agent may read or write. */
export function pathsOf(location: StoreLocation, mirror?: string): readonly OwnPath[] {
  const copies = mirror === undefined ? [] : [{ directory: resolve(mirror), names: ownNames }]
  if (location.kind === 'jsonl') return [{ directory: location.path, names: ownNames }, ...copies]
  if (location.kind !== 'sqlite') return copies
  return [...copies, ...['', '-wal', '-shm', '-journal'].map((end) => `${location.path}${end}`), location.blobsDir]
}

const isDiskKind = (kind: string): kind is DiskKind => Object.hasOwn(locate, kind)
