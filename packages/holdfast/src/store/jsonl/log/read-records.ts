import { type FileHandle, open } from 'node:fs/promises'
import type { ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { LogIndex, LogPosition } from './log-index.ts'
import { parseRecord, readChecksum } from './log-line.ts'

/** Lines this near to each other are read in one go, and at most so much at once. */
const gapBytesMax = 16 * 1024
const readBytesMax = 1024 * 1024

type Placed = LogPosition & { readonly seq: Seq }
type Run = { readonly from: number; upTo: number; readonly lines: Placed[] }

/** The records at these seqs, in the order they were asked for, each held against its checksum. */
export async function readRecordsAt(
  path: string,
  session: SessionId,
  seqs: readonly Seq[],
  index: Pick<LogIndex, 'placeOf'>,
): Promise<readonly ReadRecord[]> {
  const placed = seqs.flatMap((seq) => {
    const place = index.placeOf(seq)
    return place === null ? [] : [{ seq, ...place }]
  })
  const records = new Map<Seq, ReadRecord>()
  if (placed.length > 0) {
    await using file = await open(path, 'r')
    for (const run of runsOf(placed.toSorted((left, right) => left.offset - right.offset))) {
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
  place: LogPosition | null,
): Promise<string | null> {
  if (place === null) return null
  await using file = await open(path, 'r')
  return readChecksum(session, await readAll(file, place.offset, place.bytes))
}

function runsOf(lines: readonly Placed[]): readonly Run[] {
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

/** As many bytes as there are: a file that was cut short gives fewer, and its lines do not fit their checksums. */
async function readAll(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read)
    if (bytesRead === 0) return bytes.subarray(0, read)
    read += bytesRead
  }
  return bytes
}
