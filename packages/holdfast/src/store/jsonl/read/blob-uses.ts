import { type FileHandle, open } from 'node:fs/promises'
import type { AreUsed, BlobUses } from '@holdfast/core/ports'
import type { BlobHash, Seq, SessionId } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { systemErrorCode } from '../../../system/system-error.ts'
import { openIfThere } from '../../blobs/file-blobs.ts'
import type { JsonlPaths } from '../files/layout.ts'
import { parseBlobs } from '../log/log-line.ts'
import { scanLines } from '../log/scan-lines.ts'
import type { SessionRow } from '../log/session-row.ts'

/** How far a log was read, and the first record that refers to each blob. */
type Known = {
  readonly isShared: boolean
  bytes: number
  readonly firstSeqs: Map<string, Seq>
}

/** Of so many sessions it is remembered what they refer to: those whose files were asked for last. */
const knownMax = 64

/** A value of 64 hex digits: within a text, quotes are escaped. */
const hashValue = /"([0-9a-f]{64})"/g

/**
 * Finds uses in the logs themselves, whoever wrote them: for a sweep all are read through once, a piece at a time, and
 * nothing is remembered of it. What only looks like a hash counts as a use there, which keeps a blob too long and never
 * too short; but it lets nobody read the blob: a model that is made to write a hash does not refer to it.
 */
export function createBlobUses(
  rows: ReadonlyMap<SessionId, SessionRow>,
  places: JsonlPaths,
  isLeaving: (row: SessionRow) => boolean,
): BlobUses {
  const known = new Map<SessionId, Known>()
  /** Two that read on in the same log would skip what the other has not come to. */
  const inTurn = createSerialQueue()

  async function blobsInUse(signal?: AbortSignal): Promise<AreUsed> {
    const used = new Set<string>()
    // Also those that are made meanwhile: a map goes on to them.
    for (const row of rows.values()) {
      if (signal?.aborted) return async (hashes) => new Set(hashes) // what was not read may name any
      await using file = await openLog(row)
      if (file !== null) await scanLines(file, (line) => addHashes(used, line))
    }
    return async (hashes) => new Set(hashes.filter((hash) => used.has(hash)))
  }

  async function knownOf(row: SessionRow): Promise<Known | null> {
    const before = known.get(row.id)
    known.delete(row.id)
    const isSame = before?.isShared === row.isShared && before.bytes <= row.bytes
    const log: Known = isSame ? before : { isShared: row.isShared, bytes: 0, firstSeqs: new Map() }
    if (log.bytes !== row.bytes && !(await readOn(row, log))) return null
    known.set(row.id, log)
    const [oldest] = known.keys()
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest)
    return log
  }

  /** Reads what was appended since; false when the session was removed. */
  async function readOn(row: SessionRow, log: Known): Promise<boolean> {
    await using file = await openLog(row)
    if (file === null) return false
    const { bytes } = row
    await scanLines(file, (line) => note(row.id, log, line), log.bytes)
    log.bytes = bytes // what is being appended now is read again
    return true
  }

  function note(session: SessionId, { firstSeqs }: Known, line: Buffer): void {
    if (line.toString('latin1').search(hashValue) === -1) return
    const { seq, blobs } = parseBlobs(session, line)
    for (const hash of blobs) if (!firstSeqs.has(hash)) firstSeqs.set(hash, seq)
  }

  /** Null when the session was removed meanwhile. A log that is there and cannot be read may name anything: that is thrown. */
  async function openLog(row: SessionRow): Promise<FileHandle | null> {
    const path = places.log(row.id, row.isShared)
    try {
      return await open(path, 'r')
    } catch (error) {
      if (rows.get(row.id) !== row) return null
      if (systemErrorCode(error) !== 'ENOENT') throw error
      if (places.log(row.id, row.isShared) !== path) return openLog(row)
      if (isLeaving(row)) return openIfThere(places.log(row.id, true)) // what its forks share, if it has any
      throw error
    }
  }

  async function refersTo(session: SessionId, hash: BlobHash): Promise<boolean> {
    let upTo = Number.POSITIVE_INFINITY
    for (let row = rows.get(session); row !== undefined; row = row.parent === null ? undefined : rows.get(row.parent)) {
      const first = (await knownOf(row))?.firstSeqs.get(hash)
      if (first !== undefined && first <= upTo) return true
      upTo = row.base
    }
    return false
  }

  return {
    blobsInUse,
    refersTo: (session, hash) =>
      inTurn(async () => rows.get(session)?.isShared === false && (await refersTo(session, hash))),
  }
}

function addHashes(used: Set<string>, line: Buffer): void {
  for (const [, hash = ''] of line.toString('latin1').matchAll(hashValue)) {
    // A copy: a part of a string would hold on to all of the line.
    if (!used.has(hash)) used.add(Buffer.from(hash, 'latin1').toString('latin1'))
  }
}
