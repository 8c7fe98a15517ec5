import { type FileHandle, open } from 'node:fs/promises'
import type { ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { LogIndex, LogPosition } from './log-index.ts'
import { parseRecord, readChecksum } from './log-line.ts'

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
