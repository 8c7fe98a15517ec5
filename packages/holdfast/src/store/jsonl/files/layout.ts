import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SessionId } from '@holdfast/protocol'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'
import { lookAt } from '../../file-findings.ts'
import { networkFileSystemOf } from '../../network-file-system.ts'
import { storageFault } from '../../storage-fault.ts'
import { draftMark } from '../../temporary-path.ts'
import { readJsonIfExists, replaceFile } from './atomic-file.ts'

export const directoryFormat = 'holdfast-jsonl'
export const directoryVersion = 1

const sharedMark = '.shared'
const logName = /^(ses_[0-9a-z]+)(\.shared)?\.jsonl$/
/** What stands there when a crash came before the directory was marked. */
const firstName = /^(holder|holdfast)\.json(\.new-[0-9a-f-]+)?$/
const statsAtOnceMax = 64

/** Where everything lies in a directory of logs. */
export const createJsonlPaths = (directory: string) => ({
  directory,
  marker: join(directory, 'holdfast.json'),
  catalogue: join(directory, 'catalogue.jsonl'),
  trust: join(directory, 'trust.json'),
  trash: join(directory, 'trash.json'),
  nodes: join(directory, 'nodes.json'),
  drafts: join(directory, 'drafts'),
  snapshots: join(directory, 'snapshots'),
  log: (session: SessionId, isShared: boolean) => join(directory, `${session}${isShared ? sharedMark : ''}.jsonl`),
  draft: (session: SessionId) => join(directory, 'drafts', `${session}.json`),
  snapshot: (session: SessionId) => join(directory, 'snapshots', `${session}.json`),
})

export type JsonlPaths = ReturnType<typeof createJsonlPaths>

export type FoundLog = { readonly id: SessionId; readonly isShared: boolean; readonly bytes: number }

/** Why a directory is none that we may use, or null. Makes it where there is none; changes nothing else. */
export async function refusalOfDirectory(places: JsonlPaths): Promise<Fault | null> {
  ensurePrivateDirectory(places.directory)
  return findDirectoryFault(places)
}

/** The same of a directory that is there; changes nothing at all. */
export async function findDirectoryFault(places: JsonlPaths): Promise<Fault | null> {
  const { directory } = places
  const network = networkFileSystemOf(directory)
  if (network !== null) return storageFault(directory, 'network_file_system', { fileSystem: network })
  const marker = (await readJsonIfExists(places.marker)) as Partial<Marker> | null
  if (marker?.format === directoryFormat) {
    const { version = 0 } = marker
    return version > directoryVersion ? tooNew(directory, version) : null
  }
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !firstName.test(name))
  // Any file of ours but the logs may be deleted: logs alone are a store too.
  return names.length === 0 || names.some((name) => logName.test(name)) ? null : notAStore(directory)
}

type Marker = { readonly format: string; readonly version: number }

/** Marks a locked directory as ours, removes what was never finished, and finds the logs. */
export async function prepareDirectory(places: JsonlPaths): Promise<readonly FoundLog[]> {
  const { directory } = places
  const marker: Marker = { format: directoryFormat, version: directoryVersion }
  if ((await readJsonIfExists(places.marker)) === null) await replaceFile(places.marker, `${JSON.stringify(marker)}\n`)
  for (const side of [places.drafts, places.snapshots]) {
    await mkdir(side, { recursive: true, mode: 0o700 })
    await chmod(side, 0o700)
    await removeUnfinished(side, await readdir(side))
  }
  const names = await readdir(directory)
  await removeUnfinished(directory, names)
  const found = await lookAll(directory, names, async (path, name, mode) => {
    if ((mode & 0o077) !== 0 && isOurs(name)) await chmod(path, mode & 0o700)
  })
  return dropHalfPurged(places, found)
}

/** Finds the logs and changes nothing. */
export async function findLogs({ directory }: JsonlPaths): Promise<readonly FoundLog[]> {
  const found = await lookAll(directory, await readdir(directory), async () => undefined)
  const shared = new Set(found.filter(({ isShared }) => isShared).map(({ id }) => id))
  return found.filter(({ id, isShared }) => isShared || !shared.has(id)) // as `dropHalfPurged` would leave them
}

type OnFile = (path: string, name: string, mode: number) => Promise<void>

async function lookAll(directory: string, names: readonly string[], onFile: OnFile): Promise<readonly FoundLog[]> {
  const found: FoundLog[] = []
  for (let from = 0; from < names.length; from += statsAtOnceMax) {
    const some = names.slice(from, from + statsAtOnceMax)
    const seen = await Promise.all(some.map((name) => look(directory, name, onFile)))
    found.push(...seen.filter((one) => one !== null))
  }
  return found
}

async function look(directory: string, name: string, onFile: OnFile): Promise<FoundLog | null> {
  if (name.includes(draftMark)) return null
  const path = join(directory, name)
  const seen = await lookAt(path)
  if (seen === null || !seen.isFile()) return null // nor a link: it could lead anywhere
  const { size, mode } = seen
  await onFile(path, name, mode)
  const [, session, shared] = logName.exec(name) ?? []
  const id = SessionId.safeParse(session)
  return id.success ? { id: id.data, isShared: shared !== undefined, bytes: size } : null
}

export const isOurs = (name: string): boolean => /^ses_[0-9a-z]+\.|^(catalogue\.jsonl|\w+\.json)$/.test(name)

async function removeUnfinished(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names) if (name.includes(draftMark)) await rm(join(directory, name), { force: true })
}

/** Once its shared part stands under its own name, a session is purged: a crash may have come before the rest went. */
async function dropHalfPurged(places: JsonlPaths, found: readonly FoundLog[]): Promise<readonly FoundLog[]> {
  const shared = new Set(found.filter(({ isShared }) => isShared).map(({ id }) => id))
  const left = found.filter(({ id, isShared }) => !isShared && shared.has(id))
  for (const { id } of left) await rm(places.log(id, false), { force: true })
  return found.filter((one) => !left.includes(one))
}

const notAStore = (path: string): Fault =>
  fault('not_a_store', `${path} is not a Holdfast store: it holds other files. It was left as it is.`, { path })

const tooNew = (path: string, version: number): Fault =>
  fault(
    'store_too_new',
    `${path} was written by a newer Holdfast (store version ${version}, this one knows ${directoryVersion}).`,
    { path, version, known: directoryVersion },
  )
