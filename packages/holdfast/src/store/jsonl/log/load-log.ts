import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Seq, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../../../system/system-error.ts'
import { createLogIndex, type LogIndex, type LogPosition } from './log-index.ts'
import { type LineMeta, type LogHeader, logVersion, parseHeader, parseLineMeta, scanLines } from './log-line.ts'
import { moveTornTail } from './log-writer.ts'

/** The acknowledged length and head of a file, from the catalogue. */
type KnownLog = {
  readonly parent: SessionId | null
  readonly base: Seq
  readonly head: Seq
  readonly bytes: number
}

type LogSource = {
  readonly path: string
  readonly session: SessionId
  readonly known: KnownLog | null
  /** The rest of a purged session ends at the last base of its forks, which may be inside a batch. */
  readonly isShared: boolean
  /** Leaves a half-written end in place, for read-only callers. */
  readonly leavesTail?: boolean
}

export type LoadedLog = {
  /** Null if the first line is damaged. */
  readonly header: LogHeader | null
  readonly parent: SessionId | null
  readonly base: Seq
  readonly index: LogIndex
  /** The offset of the next line. */
  readonly end: number
  /** True if the last line has no line break. */
  readonly lacksBreak: boolean
  /** The first seq of the last batch that ended a draft; 0 if none did. */
  readonly draftEndedAt: Seq
  readonly lastAt: string | null
  /** The half-written end, and the file it was moved to; the log's own path if it was left in place. */
  readonly torn: { readonly path: string; readonly bytes: number } | null
}

/**
 * Scans a session's file once. Damaged records before the acknowledged end are lost but keep their seqs. Bytes after the
 * last complete batch were never acknowledged and are moved to a file of their own. Returns null if the file is not a
 * log of ours, or, with `leavesTail`, if it was removed in the meantime.
 */
export async function loadLog({ path, session, known, isShared, leavesTail }: LogSource): Promise<LoadedLog | null> {
  await using file = await openLog(path, leavesTail ?? false)
  if (file === null) return null
  const log = createLogScan(known?.base ?? 0)
  let found: ReturnType<typeof parseHeader> = 'damaged'
  const size = await scanLines(file, (line, offset, isEnded) => {
    const after = offset + line.length + (isEnded ? 1 : 0)
    if (offset === 0) {
      found = parseHeader(session, line)
      if (typeof found !== 'string') log.begin(found.base, after, isEnded)
      return
    }
    const meta = parseLineMeta(session, line)
    if (meta !== null) log.add({ meta, position: { offset, bytes: line.length }, after, isEnded }, isShared)
  })

  const first = found as ReturnType<typeof parseHeader> // assigned in the callback
  if (first === 'too_new') throw new HoldfastError(tooNew(path))
  const header = typeof first === 'string' ? null : first
  const isKnown = known !== null && (first === 'damaged' || size === known.bytes)
  if (header === null && log.isEmpty() && !isKnown) return null

  // Acknowledged bytes that still exist are damaged, not half-written.
  if (known !== null && size >= known.bytes && known.bytes >= log.end()) {
    log.endAt(known, await endsInBreak(file, known.bytes))
  }
  const { index, end, lacksBreak, draftEndedAt, lastAt } = log.read()
  return {
    header,
    index,
    end,
    lacksBreak,
    draftEndedAt,
    lastAt,
    parent: header === null ? (known?.parent ?? null) : header.parent,
    base: header?.base ?? known?.base ?? 0,
    torn: size <= end ? null : leavesTail ? { path, bytes: size - end } : await moveTornTail(path, end),
  }
}

async function openLog(path: string, mayBeGone: boolean): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (mayBeGone && systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

type ReadLine = {
  readonly meta: LineMeta
  readonly position: LogPosition
  /** The offset of the next line. */
  readonly after: number
  readonly isEnded: boolean
}

/** The readable lines of one write, and its first and last seq. */
type PartialWrite = { readonly from: Seq; readonly upTo: Seq; readonly lines: ReadLine[] }

/** Groups lines into complete writes. An incomplete last write was never synced; any other one was damaged later. */
function createLogScan(base: Seq) {
  let index = createLogIndex(base)
  let pending: PartialWrite | null = null
  let [end, lacksBreak, draftEndedAt] = [0, false, 0]
  let lastAt: string | null = null
  const last = (): Seq => pending?.lines.at(-1)?.meta.seq ?? index.head()

  function addLines(lines: readonly ReadLine[]): void {
    for (const { meta, position, after, isEnded } of lines) {
      index.add(meta, position)
      if (meta.endsDraft) draftEndedAt = meta.seq
      ;[end, lacksBreak, lastAt] = [after, !isEnded, meta.at]
    }
  }

  return {
    begin(from: Seq, after: number, isEnded: boolean): void {
      index = createLogIndex(from)
      ;[end, lacksBreak] = [after, !isEnded]
    },
    add(line: ReadLine, isShared: boolean): void {
      const { seq, prior, more } = line.meta
      if (seq <= last()) return
      if (isShared) {
        addLines([line])
        return
      }
      const [from, upTo] = [seq - prior, seq + more]
      if (pending !== null && pending.from !== from) addLines(pending.lines)
      if (pending?.from !== from) pending = { from, upTo, lines: [] }
      pending.lines.push(line)
      if (pending.lines.length <= upTo - from) return
      addLines(pending.lines)
      pending = null
    },
    endAt({ head, bytes }: KnownLog, isEnded: boolean): void {
      addLines(pending?.lines.filter(({ after }) => after <= bytes) ?? [])
      index.loseUpTo(head)
      ;[end, lacksBreak] = [bytes, !isEnded]
    },
    isEmpty: () => last() === base,
    end: () => end,
    read: () => ({ index, end, lacksBreak, draftEndedAt, lastAt }),
  }
}

async function endsInBreak(file: FileHandle, end: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, end - 1)
  return buffer[0] === 10
}

function tooNew(path: string) {
  const message = `${basename(path)} in ${dirname(path)} was written by a newer Holdfast. Update Holdfast to open it.`
  return fault('store_too_new', message, { path, known: logVersion })
}
