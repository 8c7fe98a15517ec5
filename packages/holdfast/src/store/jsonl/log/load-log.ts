import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Seq, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../../../system/system-error.ts'
import { createLogIndex, type LogIndex, type LogPosition } from './log-index.ts'
import { type LineMeta, type LogHeader, logVersion, parseHeader, parseLineMeta } from './log-line.ts'
import { scanLines } from './scan-lines.ts'
import { moveTornTail } from './torn-tail.ts'

/** What the catalogue knows of a file: so many bytes of it were acknowledged, up to this head. */
export type KnownLog = {
  readonly parent: SessionId | null
  readonly base: Seq
  readonly head: Seq
  readonly bytes: number
}

export type LogSource = {
  readonly path: string
  readonly session: SessionId
  readonly known: KnownLog | null
  /** A part that others share ends where their base is, which may be within a batch. */
  readonly isShared: boolean
  /** For whoever only looks: what a crash left half-written stays where it is. */
  readonly leavesTail?: boolean
}

export type LoadedLog = {
  /** Null where the first line is damaged. */
  readonly header: LogHeader | null
  readonly parent: SessionId | null
  readonly base: Seq
  readonly index: LogIndex
  /** Where the next line goes. */
  readonly end: number
  /** Whether the last line was left without its break. */
  readonly lacksBreak: boolean
  /** The last batch that ended a draft begins here; 0 when none did. */
  readonly draftEndedAt: Seq
  readonly lastAt: string | null
  /** What a crash left half-written, and the file that took it; the log's own where it was left there. */
  readonly torn: { readonly path: string; readonly bytes: number } | null
}

/**
 * Reads a session's file through, once. What is damaged before the acknowledged end is lost and keeps its place; what
 * follows the last whole batch was never acknowledged, and is moved into a file of its own. Null when it is no file of
 * ours: it is left as it is; for whoever only looks, also when it was removed meanwhile.
 */
export async function loadLog({ path, session, known, isShared, leavesTail }: LogSource): Promise<LoadedLog | null> {
  await using file = await openLog(path, leavesTail ?? false)
  if (file === null) return null
  const log = createReading(known?.base ?? 0)
  let found: ReturnType<typeof parseHeader> = 'damaged'
  const size = await scanLines(file, (line, offset, isEnded) => {
    const after = offset + line.length + (isEnded ? 1 : 0)
    if (offset === 0) {
      found = parseHeader(session, line)
      if (typeof found !== 'string') log.begin(found.base, after, isEnded)
      return
    }
    const facts = parseLineMeta(session, line)
    if (facts !== null) log.add({ facts, place: { offset, bytes: line.length }, after, isEnded }, isShared)
  })

  const first = found as ReturnType<typeof parseHeader> // assigned in the callback
  if (first === 'too_new') throw new HoldfastError(tooNew(path))
  const header = typeof first === 'string' ? null : first
  const isKnown = known !== null && (first === 'damaged' || size === known.bytes)
  if (header === null && log.isEmpty() && !isKnown) return null

  // Bytes that were acknowledged and are still there are damaged, not torn.
  if (known !== null && size >= known.bytes && known.bytes >= log.end()) {
    log.keepUpTo(known, await endsInBreak(file, known.bytes))
  }
  const { index, end, lacksBreak, draftEndedAt, lastAt } = log.read()
  return {
    ...{ header, index, end, lacksBreak, draftEndedAt, lastAt },
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
  readonly facts: LineMeta
  readonly place: LogPosition
  /** Where the next line begins. */
  readonly after: number
  readonly isEnded: boolean
}

/** The lines that can be read of one write, by the seqs it begins and ends with. */
type ReadWrite = { readonly from: Seq; readonly upTo: Seq; readonly lines: ReadLine[] }

/**
 * Gathers lines into whole writes. One that lacks a line was damaged later if another write follows it, which is only
 * begun once it was synced; as the last one it was never synced, whichever of its lines the disk took.
 */
function createReading(base: Seq) {
  let index = createLogIndex(base)
  let begun: ReadWrite | null = null
  let [end, lacksBreak, draftEndedAt] = [0, false, 0]
  let lastAt: string | null = null
  const last = (): Seq => begun?.lines.at(-1)?.facts.seq ?? index.head()

  function take(lines: readonly ReadLine[]): void {
    for (const { facts, place, after, isEnded } of lines) {
      index.add(facts, place)
      if (facts.endsDraft) draftEndedAt = facts.seq
      ;[end, lacksBreak, lastAt] = [after, !isEnded, facts.at]
    }
  }

  return {
    begin(from: Seq, after: number, isEnded: boolean): void {
      index = createLogIndex(from)
      ;[end, lacksBreak] = [after, !isEnded]
    },
    add(line: ReadLine, isShared: boolean): void {
      const { seq, prior, more } = line.facts
      if (seq <= last()) return
      if (isShared) {
        take([line])
        return
      }
      const [from, upTo] = [seq - prior, seq + more]
      if (begun !== null && begun.from !== from) take(begun.lines)
      if (begun?.from !== from) begun = { from, upTo, lines: [] }
      begun.lines.push(line)
      if (begun.lines.length <= upTo - from) return
      take(begun.lines)
      begun = null
    },
    keepUpTo({ head, bytes }: KnownLog, isEnded: boolean): void {
      take(begun?.lines.filter(({ after }) => after <= bytes) ?? [])
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

const tooNew = (path: string) =>
  fault('store_too_new', `${basename(path)} in ${dirname(path)} was written by a newer Holdfast.`, {
    path,
    known: logVersion,
  })
