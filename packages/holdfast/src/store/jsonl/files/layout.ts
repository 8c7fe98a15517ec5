import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SessionId } from '@holdfast/protocol'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { networkFileSystemOf, temporaryMark } from '../../disk.ts'
import { lstatIfThere } from '../../finding.ts'
import { storageFault } from '../../storage-fault.ts'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

const directoryFormat = 'holdfast-jsonl'
const directoryVersion = 1

const sharedMark = '.shared'
const logName = /^(ses_[0-9a-z]+)(\.shared)?\.jsonl$/
/** Files that exist if a crash came before the directory was marked. */
const firstName = /^(holder|holdfast)\.json(\.new-[0-9a-f-]+)?$/
const statsAtOnceMax = 64

/** Returns the paths of all files in a store directory. */
export const createJsonlPaths = (directory: string) => ({
  directory,
  marker: join(directory, 'holdfast.json'),
  catalogue: join(directory, 'catalogue.jsonl'),
  trust: join(directory, 'trust.json'),
  trash: join(directory, 'trash.json'),
  nodes: join(directory, 'nodes.json'),
  tokens: join(directory, 'tokens.json'),
  spending: join(directory, 'spending.json'),
  drafts: join(directory, 'drafts'),
  snapshots: join(directory, 'snapshots'),
  log: (session: SessionId, isShared: boolean) => join(directory, `${session}${isShared ? sharedMark : ''}.jsonl`),
  draft: (session: SessionId) => join(directory, 'drafts', `${session}.json`),
  snapshot: (session: SessionId) => join(directory, 'snapshots', `${session}.json`),
})

export type JsonlPaths = ReturnType<typeof createJsonlPaths>

export type FoundLog = { readonly id: SessionId; readonly isShared: boolean; readonly bytes: number }

/** Returns why an existing directory cannot be used as a store, or null. Changes nothing. */
export async function findDirectoryFault(paths: JsonlPaths): Promise<Fault | null> {
  const { directory } = paths
  const network = networkFileSystemOf(directory)
  if (network !== null) return storageFault(directory, 'network_file_system', { fileSystem: network })
  const marker = (await readJsonIfExists(paths.marker)) as Partial<Marker> | null
  if (marker?.format === directoryFormat) {
    const { version = 0 } = marker
    return version > directoryVersion ? tooNew(directory, version) : null
  }
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !firstName.test(name))
  // All files but the logs may be deleted: logs alone are a store too.
  return names.length === 0 || names.some((name) => logName.test(name)) ? null : notAStore(directory)
}

type Marker = { readonly format: string; readonly version: number }

/** Marks a locked directory as a store, removes unfinished files, and returns its logs. */
export async function prepareDirectory(paths: JsonlPaths): Promise<readonly FoundLog[]> {
  const { directory } = paths
  const marker: Marker = { format: directoryFormat, version: directoryVersion }
  if ((await readJsonIfExists(paths.marker)) === null) await replaceFile(paths.marker, `${JSON.stringify(marker)}\n`)
  for (const side of [paths.drafts, paths.snapshots]) {
    await mkdir(side, { recursive: true, mode: 0o700 })
    await chmod(side, 0o700)
    await removeUnfinished(side, await readdir(side))
  }
  const names = await readdir(directory)
  await removeUnfinished(directory, names)
  const found = await inspectAll(directory, names, async (path, name, mode) => {
    if ((mode & 0o077) !== 0 && isOurs(name)) await chmod(path, mode & 0o700)
  })
  return dropPurged(paths, found)
}

/** Returns the logs. Changes nothing. */
export async function findLogs({ directory }: JsonlPaths): Promise<readonly FoundLog[]> {
  const found = await inspectAll(directory, await readdir(directory), async () => undefined)
  const shared = new Set(found.filter(({ isShared }) => isShared).map(({ id }) => id))
  return found.filter(({ id, isShared }) => isShared || !shared.has(id)) // as `dropPurged` leaves them
}

type OnFile = (path: string, name: string, mode: number) => Promise<void>

async function inspectAll(directory: string, names: readonly string[], onFile: OnFile): Promise<readonly FoundLog[]> {
  const found: FoundLog[] = []
  for (let from = 0; from < names.length; from += statsAtOnceMax) {
    const batch = names.slice(from, from + statsAtOnceMax)
    const logs = await Promise.all(batch.map((name) => inspect(directory, name, onFile)))
    found.push(...logs.filter((log) => log !== null))
  }
  return found
}

async function inspect(directory: string, name: string, onFile: OnFile): Promise<FoundLog | null> {
  if (name.includes(temporaryMark)) return null
  const path = join(directory, name)
  const stats = await lstatIfThere(path)
  if (stats === null || !stats.isFile()) return null // skips links too: they may point anywhere
  const { size, mode } = stats
  await onFile(path, name, mode)
  const [, session, shared] = logName.exec(name) ?? []
  const id = SessionId.safeParse(session)
  return id.success ? { id: id.data, isShared: shared !== undefined, bytes: size } : null
}

export const isOurs = (name: string): boolean => /^ses_[0-9a-z]+\.|^(catalogue\.jsonl|\w+\.json)$/.test(name)

async function removeUnfinished(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names) if (name.includes(temporaryMark)) await rm(join(directory, name), { force: true })
}

/** Removes the log of each session that has a `.shared` file: it is purged, and a crash prevented its removal. */
async function dropPurged(paths: JsonlPaths, found: readonly FoundLog[]): Promise<readonly FoundLog[]> {
  const shared = new Set(found.filter(({ isShared }) => isShared).map(({ id }) => id))
  const purged = found.filter(({ id, isShared }) => !isShared && shared.has(id))
  for (const { id } of purged) await rm(paths.log(id, false), { force: true })
  return found.filter((log) => !purged.includes(log))
}

const notAStore = (path: string): Fault =>
  fault('not_a_store', `${path} is not a Holdfast store: it contains other files. Nothing was changed.`, { path })

const tooNew = (path: string, version: number): Fault =>
  fault(
    'store_too_new',
    `${path} was written by a newer Holdfast (store version ${version}; this one supports ${directoryVersion}).`,
    { path, version, known: directoryVersion },
  )
