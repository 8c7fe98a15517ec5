import { type FileHandle, open } from 'node:fs/promises'
import type { Charge, ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { addCharges } from '../../ledger.ts'
import { type LineMeta, parseRecord, readChecksum } from './log-line.ts'

/** The position of a record's line in its file, without the line break. */
export type LogPosition = { readonly offset: number; readonly bytes: number }

type IndexedLine = Pick<LineMeta, 'seq' | 'type' | 'ref' | 'commandId' | 'commandHash' | 'charge'>

type SelectRange = {
  /** Both ends included. */
  readonly from: Seq
  readonly upTo: Seq
  readonly limit: number
  readonly newestFirst: boolean
  readonly types: ReadonlySet<string> | null
}

export type LogIndex = ReturnType<typeof createLogIndex>

/** Finds the records of a log by seq, type, call and command. Built by one scan and updated by each append. */
export function createLogIndex(base: Seq) {
  const offsets: number[] = []
  /** 0 for a lost record. */
  const lengths: number[] = []
  const types: (string | null)[] = []
  const refs = new Map<Seq, Seq[]>()
  const commands = new Map<string, { readonly seq: Seq; readonly hash: string | null }>()
  /** What was spent, by day, payer and workspace. */
  let charges: readonly Charge[] = []
  /** One string instance per type, to save memory. */
  const known = new Map<string, string>()
  const head = () => base + offsets.length

  /** Moves the head to `seq`; seqs without a line are lost. */
  function loseUpTo(seq: Seq): void {
    while (head() < seq) {
      offsets.push(0)
      lengths.push(0)
      types.push(null)
    }
  }

  return {
    head,
    loseUpTo,

    /** Adds the last line; skipped seqs are lost. */
    add({ seq, type, ref, commandId, commandHash, charge }: IndexedLine, { offset, bytes }: LogPosition): void {
      loseUpTo(seq - 1)
      offsets.push(offset)
      lengths.push(bytes)
      if (!known.has(type)) known.set(type, type)
      types.push(known.get(type) ?? type)
      if (commandId !== null && !commands.has(commandId)) commands.set(commandId, { seq, hash: commandHash ?? null })
      if (charge) charges = addCharges(charges, [charge])
      if (ref === null) return
      if (!refs.get(ref)?.push(seq)) refs.set(ref, [seq])
    },

    /** Returns null for a lost record. */
    positionOf(seq: Seq): LogPosition | null {
      const bytes = lengths[seq - base - 1] ?? 0
      return bytes === 0 ? null : { offset: offsets[seq - base - 1] ?? 0, bytes }
    },

    select({ from, upTo, limit, newestFirst, types: wanted }: SelectRange): readonly Seq[] {
      const seqs: Seq[] = []
      const last = Math.min(upTo, head())
      const step = newestFirst ? -1 : 1
      for (let seq = newestFirst ? last : from; seq >= from && seq <= last && seqs.length < limit; seq += step) {
        const type = types[seq - base - 1] ?? null
        // A lost record may have been of any type.
        if (wanted === null || type === null || wanted.has(type)) seqs.push(seq)
      }
      return seqs
    },

    /** Returns the seqs up to `upTo` that refer to these calls, in order. */
    refsTo: (calls: readonly Seq[], upTo: Seq): readonly Seq[] =>
      [...new Set(calls)]
        .flatMap((call) => refs.get(call) ?? [])
        .filter((seq) => seq <= upTo)
        .toSorted((left, right) => left - right),

    charges: (): readonly Charge[] => charges,
    seqOf: (commandId: string): Seq | null => commands.get(commandId)?.seq ?? null,
    hashOf: (commandId: string): string | null => commands.get(commandId)?.hash ?? null,
  }
}

/** Lines closer than the gap are read together, up to a maximum per read. */
const gapBytesMax = 16 * 1024
const readBytesMax = 1024 * 1024

type Line = LogPosition & { readonly seq: Seq }
type Run = { readonly from: number; upTo: number; readonly lines: Line[] }

/** Reads the records at these seqs, in this order. A record that does not match its checksum is lost. */
export async function readRecordsAt(
  path: string,
  session: SessionId,
  seqs: readonly Seq[],
  index: Pick<LogIndex, 'positionOf'>,
): Promise<readonly ReadRecord[]> {
  const lines = seqs.flatMap((seq) => {
    const position = index.positionOf(seq)
    return position === null ? [] : [{ seq, ...position }]
  })
  const records = new Map<Seq, ReadRecord>()
  if (lines.length > 0) {
    await using file = await open(path, 'r')
    for (const run of groupIntoRuns(lines.toSorted((left, right) => left.offset - right.offset))) {
      const bytes = await readAll(file, run.from, run.upTo - run.from)
      for (const { seq, offset, bytes: length } of run.lines) {
        const line = bytes.subarray(offset - run.from, offset - run.from + length)
        records.set(seq, parseRecord(session, seq, line))
      }
    }
  }
  return seqs.map((seq) => records.get(seq) ?? { seq, lost: true })
}

export async function readChecksumAt(
  path: string,
  session: SessionId,
  position: LogPosition | null,
): Promise<string | null> {
  if (position === null) return null
  await using file = await open(path, 'r')
  return readChecksum(session, await readAll(file, position.offset, position.bytes))
}

function groupIntoRuns(lines: readonly Line[]): readonly Run[] {
  const runs: Run[] = []
  for (const line of lines) {
    const run = runs.at(-1)
    const upTo = line.offset + line.bytes
    if (run !== undefined && line.offset - run.upTo <= gapBytesMax && upTo - run.from <= readBytesMax) {
      run.lines.push(line)
      run.upTo = upTo
    } else {
      runs.push({ from: line.offset, upTo, lines: [line] })
    }
  }
  return runs
}

/** Reads up to `length` bytes. A truncated file gives fewer, and its lines then fail their checksums. */
async function readAll(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read)
    if (bytesRead === 0) return bytes.subarray(0, read)
    read += bytesRead
  }
  return bytes
}
