import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { ToolContext, ToolRun } from '@holdfast/core/ports'
import { clip, escapeLine, fault, limits, ok, type Result, refuse, type SeenLines } from '@holdfast/protocol'
import { z } from 'zod'
import { closeLater, findFile, type OpenFile, openFile } from '../../system/files/open-file.ts'
import { findReals } from '../../system/files/own-paths.ts'
import { readRange } from '../../system/files/read-range.ts'
import type { WorkspacePath } from '../../system/files/resolve-path.ts'
import { countArgument, filePathArgument } from '../define/arguments.ts'
import { type Done, defineTool, whenBegun } from '../define/define-tool.ts'
import { decodeText } from '../edits/decode-text.ts'
import { describeText, isBinary } from '../edits/encoding.ts'
import { bodies, bodyOf, splitLinesInSlices } from '../edits/lines.ts'
import { hashBytes } from './io/before-image.ts'
import { readSmall } from './io/file-content.ts'
import { refuseOwnReading } from './io/guarded-path.ts'
import { createReadTurns } from './io/read-turns.ts'
import { withSimilarNames } from './io/similar-names.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  offset: countArgument.optional().describe('The first line to read, counted from 1. Default 1.'),
  limit: countArgument
    .optional()
    .describe(`How many lines to read at most. Default and maximum ${limits.readFileLinesMax}.`),
})

type ReadArgs = z.infer<typeof input>

export const readFileTool = defineTool({
  name: 'read_file',
  description: `Reads a text file of the working directory, whole or some lines of it. Each line begins with its number and a tab, which are not part of the file. At most ${limits.readFileLinesMax} lines and ${limits.readFileBytesMax} bytes at a time; a longer file is read on with offset. Lines longer than ${limits.readLineCharsMax} characters are cut. A PNG, JPEG, GIF or WebP image or a PDF file of at most ${limits.fileBytesMax / 1_000_000} MB is shown as it is, if you can see such files.`,
  input,
  changes: 'nothing',

  async preview(args, { workdir, ownPaths }) {
    const reals = findReals(ownPaths ?? [])
    const found = await findFile(workdir, args.path)
    if (!found.ok) return refuse(await withSimilarNames(found.fault, workdir, args.path))
    const own = await refuseOwnReading(found.value, ownPaths, reals)
    return own.ok ? ok({ preview: { type: 'arguments', args } }) : own
  },

  run: whenBegun(async (args: ReadArgs, context, run) => {
    const { signal } = run
    const opened = await openSeen(context, args.path)
    if (!opened.ok) return opened
    const { handle } = opened.value
    using _closing = { [Symbol.dispose]: () => closeLater(handle) }
    const text = await turns.ofSize(opened.value.stats.size, async () => {
      const bytes = signal.aborted ? null : await readSmall(handle, opened.value.stats)
      if (signal.aborted) return aborted
      return bytes === null ? readLong(args, opened.value, signal) : readText(args, opened.value, bytes)
    })
    if (text !== null) return text
    // Awaited here: the handle closes on the way out.
    return await turns.ofSession(context.session ?? '', async () =>
      signal.aborted ? aborted : showBinary(opened.value, run),
    )
  }),
})

/** Shorter files take less time for all steps than a slice. */
const quickBytes = 64 * 1024
const noPause = async (): Promise<void> => undefined

const turns = createReadTurns()
const aborted = refuse(fault('bad_request', 'aborted'))

type OpenedFile = OpenFile & { readonly path: WorkspacePath }

/** Opens a file that the model may see. Names similar files if there is none. */
async function openSeen({ workdir, ownPaths }: ToolContext, path: string): Promise<Result<OpenedFile>> {
  const reals = findReals(ownPaths ?? [])
  const opened = await openFile(workdir, path)
  if (!opened.ok) return refuse(await withSimilarNames(opened.fault, workdir, path))
  const own = await refuseOwnReading(opened.value.path, ownPaths, reals)
  if (own.ok) return opened
  await opened.value.handle.close()
  return own
}

/** Shows an image or a PDF file, which its bytes tell and not its name. Refuses any other binary file. */
async function showBinary({ path, handle, stats }: OpenedFile, { storeFile }: ToolRun): Promise<Result<Done>> {
  const name = escapeLine(path.shown)
  const refused = (why: string) =>
    refuse(fault('bad_request', `${name} is binary (${stats.size} bytes) and is not shown${why}`))
  if (!storeFile) return refused('')
  if (stats.size > limits.fileBytesMax) return refused(`: it is over ${limits.fileBytesMax} bytes`)
  const bytes = Buffer.alloc(stats.size)
  const { bytesRead } = await handle.read(bytes, 0, stats.size, 0) // from the start: its head was read to know what it is
  const stored = await storeFile(bytes.subarray(0, bytesRead), basename(path.shown))
  if (!stored.ok) return refused(`. ${stored.fault.message}`)
  const { file, changed } = stored.value
  const about = [file.mediaType, `${bytesRead} bytes`, ...(changed === undefined ? [] : [changed])]
  return ok({ text: `[${name}: ${about.join(', ')}]`, fileParts: [file] })
}

/** Returns some lines of a text file; null if it is binary. */
async function readText(
  { path, offset = 1, limit }: ReadArgs,
  { path: { shown } }: OpenedFile,
  bytes: Buffer,
): Promise<Result<Done> | null> {
  if (bytes.length === 0) {
    const seen = [{ path: shown, hash: hashBytes(bytes), from: 1, to: 0, of: 0 }]
    return ok({ text: `[${escapeLine(path)} is empty]`, seen })
  }
  const decoded = await decodeText(bytes, setImmediate)
  if (decoded === null) return null
  const pause = bytes.length > quickBytes ? setImmediate : noPause
  await pause() // a file of many megabytes takes some milliseconds for each step
  const lines = await splitLinesInSlices(decoded.text, setImmediate)
  if (offset > lines.count)
    return refuse(
      fault('bad_request', `${escapeLine(path)} has ${lines.count} lines: offset ${offset} is past its end`),
    )
  await pause()
  const hash = hashBytes(bytes)
  const page = pageOf(lines.count, { offset, limit }, (line) => bodyOf(lines, line))
  const { last } = page
  const about = describeText(decoded.encoding, lines)
  const notes = [
    ...(about === null ? [] : [`[${about}]`]),
    ...(last === lines.count && !decoded.text.endsWith('\n') ? ['[no line feed at the end of the file]'] : []),
    ...(last < lines.count ? [`[lines ${offset}–${last} of ${lines.count}; continue with offset=${last + 1}]`] : []),
    ...(last === lines.count && offset > 1 ? [`[lines ${offset}–${last} of ${lines.count}; the file ends here]`] : []),
  ]
  const seen = page.ranges.map(([from, to]): SeenLines => ({ path: shown, hash, from, to, of: lines.count }))
  return ok({ text: [...page.lines, ...notes].join('\n'), seen, isWhole: true })
}

type Page = {
  readonly lines: readonly string[]
  /** The number of the last line. */
  readonly last: number
  /** The lines that are shown whole. */
  readonly ranges: readonly (readonly [number, number])[]
}

/** Numbers lines until a limit is reached. There is always at least one. */
function pageOf(
  count: number,
  { offset, limit }: { offset: number; limit: number | undefined },
  body: (line: number) => string,
): Page {
  const end = Math.min(count, offset - 1 + Math.min(limit ?? limits.readFileLinesMax, limits.readFileLinesMax))
  const lines: string[] = []
  const ranges: [number, number][] = []
  let bytes = 0
  for (let line = offset - 1; line < end; line++) {
    const text = body(line)
    const isCut = text.length > limits.readLineCharsMax
    const shown = `${line + 1}\t${isCut ? `${clip(text, limits.readLineCharsMax)} [line ${line + 1} is cut: it has ${text.length} characters]` : text}`
    bytes += Buffer.byteLength(shown) + 1
    if (bytes > limits.readFileBytesMax && lines.length > 0) break
    lines.push(shown)
    const range = ranges.at(-1)
    if (!isCut && range?.[1] === line) range[1] = line + 1
    else if (!isCut) ranges.push([line + 1, line + 1])
  }
  return { lines, last: offset - 1 + lines.length, ranges }
}

/** Returns some lines of a file that is too long to be held in memory; null if it is binary. */
async function readLong(
  { path, offset = 1, limit }: ReadArgs,
  { handle, stats }: OpenFile,
  signal: AbortSignal,
): Promise<Result<Done> | null> {
  const lines = Math.min(limit ?? limits.readFileLinesMax, limits.readFileLinesMax)
  const { readFileBytesMax: bytesMax, readSkippedBytesMax: skippedMax } = limits
  const read = await readRange(handle, { offset, lines, bytesMax, skippedMax, signal })
  if (read.end === 'aborted') return refuse(fault('bad_request', 'aborted'))
  if (read.end === 'far')
    return refuse(
      fault(
        'bad_request',
        `${escapeLine(path)} has ${stats.size} bytes: line ${offset} is not in the first ${skippedMax}, and more is not searched. Use the shell, such as tail.`,
      ),
    )
  if (isBinary(read.bytes)) return null
  if (read.bytes.length === 0)
    return refuse(
      fault('bad_request', `${escapeLine(path)} has ${read.nextLine - 1} lines: offset ${offset} is past its end`),
    )
  const page = bodies(read.bytes.toString('utf8'))
  const { lines: shown, last } = pageOf(page.length, { offset: 1, limit }, (line) => page[line] ?? '')
  const numbered = shown.map((line, index) => line.replace(/^\d+/, String(offset + index)))
  const note = `[the file goes on: it has ${stats.size} bytes, too many to be edited; continue with offset=${offset + last}]`
  const isEnd = read.end === 'file' && last === page.length
  return ok({ text: [...numbered, ...(isEnd ? [] : [note])].join('\n'), isWhole: true })
}
