import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  dayMs,
  fault,
  HoldfastError,
  invariant,
  ok,
  type Result,
  refuse,
  type Stats,
  type Tally,
} from '@holdfast/protocol'
import { createJsonlPaths, findLogs } from '../../store/jsonl/files/layout.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskLocation, isOnDisk, type SavedLocation } from '../../store/open/store-location.ts'
import { everySession, type ReadOnlyStore, type StoreSizes } from '../../store/read-only-store.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { countSession, createSums, type Sum, toTally } from './count-session.ts'

type CountOptions = { readonly days: number; readonly nowMs: number }

/** Counts a whole store page by page. Reads only; purged sessions do not count. */
export async function countStore(location: SavedLocation, options: CountOptions): Promise<Result<Stats>> {
  const opened = await openReadOnlyStore(location)
  if (!opened.ok) return opened
  const source = opened.value
  if (source === null) return refuse(fault('not_found', `There is no store ${location.url}.`, { store: location.url }))
  try {
    return ok(limitDays(await count(source, location), options))
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  } finally {
    await source.close()
  }
}

/** Limits the figures to the last `days` days before `nowMs`. */
export function limitDays(stats: Stats, { days, nowMs }: CountOptions): Stats {
  const first = new Date(nowMs - (days - 1) * dayMs).toISOString().slice(0, 10)
  return { ...stats, days: stats.days.filter(({ day }) => day >= first) }
}

async function count(source: ReadOnlyStore, location: SavedLocation): Promise<Stats> {
  const sums = createSums()
  const sessions = { listed: 0, pinned: 0, trashed: 0, unspoken: 0 }
  const inWorkspace = new Map<string, number>()
  let records = 0
  for await (const session of everySession(source)) {
    records += session.head - session.base
    if (session.entry === null) continue
    const { entry, trashedAt } = session
    const { workspace, pinned } = entry.meta
    if (trashedAt !== null) sessions.trashed += 1
    else if (!entry.spoken) sessions.unspoken += 1
    else sessions.listed += 1
    if (pinned) sessions.pinned += 1
    if (entry.spoken) inWorkspace.set(workspace, (inWorkspace.get(workspace) ?? 0) + 1)
    await countSession(source, session, sums)
  }
  return {
    sessions,
    total: toTally(sums.total),
    days: toTallies(sums.days)
      .toSorted(([left], [right]) => (left < right ? 1 : -1))
      .map(([day, tally]) => ({ day, ...tally })),
    models: sortByMessages(toTallies(sums.models)).map(([model, tally]) => ({ model, ...tally })),
    workspaces: sortByMessages(toTallies(sums.workspaces)).map(([workspace, tally]) => ({
      workspace,
      sessions: inWorkspace.get(workspace) ?? 0,
      ...tally,
    })),
    store: { records, ...(await measureStore(source, location)) },
  }
}

type NamedTally = readonly [string, Tally]
const toTallies = (sums: ReadonlyMap<string, Sum>): readonly NamedTally[] =>
  [...sums].map(([name, sum]): NamedTally => [name, toTally(sum)])
const sortByMessages = (named: readonly NamedTally[]): readonly NamedTally[] =>
  named.toSorted(([, left], [, right]) => right.messages - left.messages)

type Size = { readonly count: number; readonly bytes: number }

/** Returns how much disk space a store uses. */
async function measureStore(source: ReadOnlyStore, location: SavedLocation): Promise<StoreSizes> {
  if (source.measure) return source.measure()
  invariant(isOnDisk(location), 'a store without files here says how large it is')
  const { count: blobs, bytes: blobBytes } = await measureDirectory(location.blobsDir)
  return { ...(await measureRecords[location.kind](location.path)), blobs, blobBytes }
}

type RecordSizes = Pick<StoreSizes, 'recordBytes' | 'indexBytes'>

const measureRecords: Readonly<Record<DiskLocation['kind'], (path: string) => Promise<RecordSizes>>> = {
  async sqlite(path) {
    const { bytes: recordBytes } = await measureFiles([path, `${path}-wal`])
    return { recordBytes, indexBytes: 0 }
  },
  async jsonl(directory) {
    const paths = createJsonlPaths(directory)
    const [catalogue, snapshots] = [await measureFiles([paths.catalogue]), await measureDirectory(paths.snapshots)]
    const recordBytes = (await findLogs(paths)).reduce((sum, { bytes }) => sum + bytes, 0)
    return { recordBytes, indexBytes: catalogue.bytes + snapshots.bytes }
  },
}

async function measureDirectory(directory: string): Promise<Size> {
  if (!existsSync(directory)) return { count: 0, bytes: 0 }
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return measureFiles(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)))
}

/** Counts and measures files; skips those that no longer exist. */
async function measureFiles(files: readonly string[]): Promise<Size> {
  let [count, bytes] = [0, 0]
  for (const path of files) {
    try {
      bytes += (await stat(path)).size
      count += 1
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error
    }
  }
  return { count, bytes }
}
