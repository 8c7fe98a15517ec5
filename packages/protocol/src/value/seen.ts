import { z } from 'zod'
import { BlobHash } from './id.ts'
import { limits } from './limits.ts'

/** Lines of a file that a tool has shown to the model, or that the model wrote itself. */
export const SeenLines = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** The SHA-256 of all bytes of the file. */
  hash: BlobHash,
  /** The first line, counted from 1. */
  from: z.int().min(1),
  /** The last line; 0 for an empty file. */
  to: z.int().min(0),
  /** How many lines the file has. */
  of: z.int().min(0),
})
export type SeenLines = z.infer<typeof SeenLines>

/** A file that the session has seen, whole or in part. */
export type SeenFile = {
  /** The path in the workdir. */
  readonly path: string
  /** The SHA-256 of the bytes that were seen. */
  readonly hash: BlobHash
  /** The ranges of lines that were seen, in order and apart. */
  readonly ranges: readonly (readonly [from: number, to: number])[]
  /** How many lines the file has. */
  readonly of: number
}

/** Adds seen lines. The newest files are remembered; lines of other bytes are forgotten. */
export function addSeen(known: readonly SeenFile[], lines: readonly SeenLines[]): readonly SeenFile[] {
  return lines.reduce<readonly SeenFile[]>((files, { path, hash, from, to, of }) => {
    if (path.length > limits.seenPathCharsMax) return files
    const others = files.filter((file) => file.path !== path)
    const same = files.find((file) => file.path === path && file.hash === hash)
    const ranges = joined([...(same?.ranges ?? []), [from, to]])
    return [...others, { path, hash, ranges: ranges.slice(0, limits.seenRangesMax), of }].slice(-limits.seenFilesMax)
  }, known)
}

/** Whether every line of a file was seen. */
export const isSeenWhole = ({ ranges, of }: SeenFile): boolean =>
  ranges.length === 1 && (ranges[0]?.[0] ?? 0) === 1 && (ranges[0]?.[1] ?? -1) >= of

type Range = readonly [from: number, to: number]

function joined(ranges: readonly Range[]): readonly Range[] {
  const done: Range[] = []
  for (const range of ranges.toSorted(([one], [other]) => one - other)) {
    const last = done.at(-1)
    if (last === undefined || range[0] > last[1] + 1) done.push(range)
    else done[done.length - 1] = [last[0], Math.max(last[1], range[1])]
  }
  return done
}
