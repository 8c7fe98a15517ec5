import { type FileHandle, open } from 'node:fs/promises'
import type { AreUsed, BlobUses } from '@holdfast/core/ports'
import type { BlobHash, Seq, SessionId } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { systemErrorCode } from '../../../system/system-error.ts'
import { openIfExists } from '../../blobs/file-blobs.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { parseBlobs, scanLines } from '../log/log-line.ts'
import type { SessionRow } from '../log/session-row.ts'

/** How far a log was read, and the first record that refers to each blob. */
type CachedUses = {
  readonly isShared: boolean
  bytes: number
  readonly firstSeqs: Map<string, Seq>
}

/** The number of sessions whose uses are cached, most recently used. */
const cachedMax = 64

/** Matches a JSON value of 64 hex digits. Quotes inside strings are escaped. */
const hashValue = /"([0-9a-f]{64})"/g

/**
 * Finds blob uses by scanning the logs. A sweep scans all logs, one chunk at a time, and caches nothing. There any text
 * that looks like a hash counts as a use, so a blob may be kept too long but is never removed too early. `refersTo`, which
 * allows reading a blob, is strict: a model that writes a hash into a message does not gain access to the blob.
 */
export function createBlobUses(
  rows: ReadonlyMap<SessionId, SessionRow>,
  paths: JsonlPaths,
  isBeingRemoved: (row: SessionRow) => boolean,
): BlobUses {
  const cache = new Map<SessionId, CachedUses>()
  /** Two scans of the same log at once would skip records. */
  const serialize = createSerialQueue()

  async function blobsInUse(signal?: AbortSignal): Promise<AreUsed> {
    const used = new Set<string>()
    // Map iteration also visits sessions that are added in the meantime.
    for (const row of rows.values()) {
      if (signal?.aborted) return async (hashes) => new Set(hashes) // an unread log may refer to any of them
      await using file = await openLog(row)
      if (file !== null) await scanLines(file, (line) => addHashes(used, line))
    }
    return async (hashes) => new Set(hashes.filter((hash) => used.has(hash)))
  }

  async function readUses(row: SessionRow): Promise<CachedUses | null> {
    const before = cache.get(row.id)
    cache.delete(row.id)
    const isSame = before?.isShared === row.isShared && before.bytes <= row.bytes
    const log: CachedUses = isSame ? before : { isShared: row.isShared, bytes: 0, firstSeqs: new Map() }
    if (log.bytes !== row.bytes && !(await readAppended(row, log))) return null
    cache.set(row.id, log)
    const [oldest] = cache.keys()
    if (cache.size > cachedMax && oldest !== undefined) cache.delete(oldest)
    return log
  }

  /** Reads what was appended since the last scan; returns false if the session was removed. */
  async function readAppended(row: SessionRow, log: CachedUses): Promise<boolean> {
    await using file = await openLog(row)
    if (file === null) return false
    const { bytes } = row
    await scanLines(file, (line) => addUses(row.id, log, line), log.bytes)
    log.bytes = bytes // an append in progress is read again later
    return true
  }

  function addUses(session: SessionId, { firstSeqs }: CachedUses, line: Buffer): void {
    if (line.toString('latin1').search(hashValue) === -1) return
    const { seq, blobs } = parseBlobs(session, line)
    for (const hash of blobs) if (!firstSeqs.has(hash)) firstSeqs.set(hash, seq)
  }

  /** Opens a log; returns null if its session was removed. Throws if it exists but cannot be read: it may use any blob. */
  async function openLog(row: SessionRow): Promise<FileHandle | null> {
    const path = paths.log(row.id, row.isShared)
    try {
      return await open(path, 'r')
    } catch (error) {
      if (rows.get(row.id) !== row) return null
      if (systemErrorCode(error) !== 'ENOENT') throw error
      if (paths.log(row.id, row.isShared) !== path) return openLog(row)
      if (isBeingRemoved(row)) return openIfExists(paths.log(row.id, true)) // the records its forks share, if any
      throw error
    }
  }

  async function refersTo(session: SessionId, hash: BlobHash): Promise<boolean> {
    let upTo = Number.POSITIVE_INFINITY
    for (let row = rows.get(session); row !== undefined; row = row.parent === null ? undefined : rows.get(row.parent)) {
      const first = (await readUses(row))?.firstSeqs.get(hash)
      if (first !== undefined && first <= upTo) return true
      upTo = row.base
    }
    return false
  }

  return {
    blobsInUse,
    refersTo: (session, hash) =>
      serialize(async () => rows.get(session)?.isShared === false && (await refersTo(session, hash))),
  }
}

function addHashes(used: Set<string>, line: Buffer): void {
  for (const [, hash = ''] of line.toString('latin1').matchAll(hashValue)) {
    // Copy it: a substring would keep the whole line in memory.
    if (!used.has(hash)) used.add(Buffer.from(hash, 'latin1').toString('latin1'))
  }
}
