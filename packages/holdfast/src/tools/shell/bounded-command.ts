import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { BoundedFile, LaterRun, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { BlobHash, escapeLine, type FileChange } from '@holdfast/protocol'
import { judgeBounded } from '../files/change/run-change.ts'
import { keepBefore } from '../files/io/before-image.ts'
import { workspaceFiles } from '../files/workspace-files.ts'

/** The files with edit boundaries as they were when a command started, by path. */
export type BoundedBefore = ReadonlyMap<string, { readonly counted: BlobHash; readonly content: Content }>

/** What is at a path: its content, or only marks of it if the file is too large or cannot be read. */
type Content =
  | {
      readonly type: 'read'
      readonly hash: BlobHash
      readonly mode: number
      /** Null if they are those of the blob that the lines were counted in: a command may run for days. */
      readonly bytes: Buffer | null
    }
  | { readonly type: 'unread'; readonly marks: string }

/** Reads the files with edit boundaries before a command starts. */
export async function readBounded({ boundaries = [], workdir }: ToolContext): Promise<BoundedBefore> {
  const before = new Map<string, { counted: BlobHash; content: Content }>()
  for (const { path, content: counted } of boundaries) {
    const content = await readNow(workdir, path)
    const isCounted = content.type === 'read' && content.hash === counted
    before.set(path, { counted, content: isCounted ? { ...content, bytes: null } : content })
  }
  return before
}

/**
 * Compares the files with edit boundaries after a command with what they were before it. A command can change any line, so
 * one that changed lines outside fails with the diff, and what was there is kept.
 */
export async function compareBounded(
  result: ToolResult,
  before: BoundedBefore,
  context: ToolContext,
  run: LaterRun,
): Promise<ToolResult> {
  const { files, violations } = await findChanges(before, context, run)
  if (files.length === 0) return result
  const others = (result.files ?? []).filter(({ path }) => !files.some((one) => one.path === path))
  return withViolations({ ...result, files: [...others, ...files] }, violations)
}

/** Lets a tool that may change any file run as a command does: what it did to files with edit boundaries is compared. */
export const withBoundedFiles = (tool: Tool): Tool => ({
  ...tool,
  async run(args, context, run) {
    const before = await readBounded(context)
    return compareBounded(await tool.run(args, context, run), before, context, run)
  },
})

/** Compares as `compareBounded` does, and records what a command in the background did. Returns its violations. */
export async function judgeLater(before: BoundedBefore, { recordLater }: ToolRun): Promise<string[]> {
  let found: readonly string[] = []
  await recordLater?.(async (context, run) => {
    const { files, violations } = await findChanges(before, context, run)
    found = violations
    return { files, ...(violations.length > 0 && { notice: noticeOf(violations) }) }
  })
  return [...found]
}

/** Fails a result with what was changed outside edit boundaries, if anything was. */
export function withViolations(result: ToolResult, violations: readonly string[]): ToolResult {
  if (violations.length === 0) return result
  const text = [result.output.text, ...violations.map((one) => `[outside_boundary: ${one}]`)].join('\n')
  return { ...result, type: 'failed', output: { ...result.output, text } }
}

const noticeOf = (violations: readonly string[]): string =>
  `A command in the background changed lines that it may not change.\n${violations.join('\n')}`

type Found = { readonly files: readonly FileChange[]; readonly violations: readonly string[] }

async function findChanges(before: BoundedBefore, context: ToolContext, run: LaterRun): Promise<Found> {
  const found: FoundChange[] = []
  for (const bounded of context.boundaries ?? []) {
    const change = await compare(bounded, before, context, run)
    if (change) found.push(change)
  }
  return {
    files: found.map(({ file, violation }) => (violation === null ? file : { ...file, outside: true })),
    violations: found.flatMap(({ violation }) => (violation === null ? [] : [violation])),
  }
}

/** What a command did to a file. `violation` is set if it changed lines that it may not. */
type FoundChange = { readonly file: FileChange; readonly violation: string | null }

async function readNow(workdir: string, path: string): Promise<Content> {
  const found = await workspaceFiles.read(workdir, path)
  if (found.ok) {
    const bytes = Buffer.from(found.value.bytes.buffer, found.value.bytes.byteOffset, found.value.bytes.byteLength)
    return { type: 'read', bytes, hash: await hashInTurns(bytes), mode: found.value.mode }
  }
  const stats = await lstat(join(workdir, path), { bigint: true }).catch(() => null)
  // The system sets `ctime` with each change; a missing file has no marks.
  return { type: 'unread', marks: stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : '' }
}

const pieceBytes = 1024 * 1024

/** Hashes bytes piece by piece, each in a turn of the event loop of its own. */
async function hashInTurns(bytes: Buffer): Promise<BlobHash> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) await setImmediate()
    hash.update(bytes.subarray(at, at + pieceBytes))
  }
  return BlobHash.parse(hash.digest('hex'))
}

const readCounted = async ({ content }: BoundedFile, { openBlob }: ToolContext): Promise<Buffer | null> =>
  openBlob ? Buffer.concat(await Array.fromAsync(await openBlob(content))) : null

async function compare(
  bounded: BoundedFile,
  captured: BoundedBefore,
  context: ToolContext,
  run: LaterRun,
): Promise<FoundChange | null> {
  const now = await readNow(context.workdir, bounded.path)
  const then = captured.get(bounded.path)
  // Since the command started, a tool has changed the file, or a person has set the boundary: they know its content.
  const isNewer = then?.counted !== bounded.content
  const before: Content = isNewer
    ? { type: 'read', hash: bounded.content, bytes: null, mode: now.type === 'read' ? now.mode : 0o644 }
    : then.content
  if (before.type === 'read' ? now.type === 'read' && now.hash === before.hash : isSameUnread(before, now)) return null
  return describeChange(bounded, before, now, context, run)
}

const isSameUnread = (before: Content, now: Content): boolean =>
  before.type === 'unread' && now.type === 'unread' && before.marks === now.marks

async function describeChange(
  bounded: BoundedFile,
  before: Content,
  now: Content,
  context: ToolContext,
  { blobs, signal }: LaterRun,
): Promise<FoundChange> {
  const { path, start, end } = bounded
  const shown = escapeLine(path)
  const counted = await readCounted(bounded, context)
  const bytes = before.type === 'read' ? (before.bytes ?? counted) : null
  const file = await fileChange(path, before, bytes, now, blobs)
  if (file.change === 'deleted') return { file, violation: `${shown} is gone` }
  if (now.type === 'unread' || now.bytes === null)
    return { file, violation: `${shown} changed, and is now too large or cannot be read` }
  // A file that was gone and is there again is compared with what the lines were counted in.
  const compared = bytes ?? (file.change === 'created' ? counted : null)
  if (compared === null) return { file, violation: `${shown} changed, and cannot be compared: ${unreadWhy}` }
  if (signal.aborted) return { file, violation: `${shown} changed, and was not compared: the call was aborted` }
  const pair = { path, range: { start, end }, counted, before: compared, after: now.bytes }
  const verdict = await judgeBounded(pair, signal)
  if ('violation' in verdict) return { file, violation: verdict.violation }
  const kept = blobs && { ...verdict.range, content: (await blobs.put(now.bytes)).hash }
  return { file: { ...file, ...(kept && { boundary: kept }) }, violation: null }
}

const unreadWhy = 'it was too large or could not be read before the command'

async function fileChange(
  path: string,
  before: Content,
  bytes: Buffer | null,
  now: Content,
  blobs: ToolRun['blobs'],
): Promise<FileChange> {
  const after = now.type === 'read' ? { after: now.hash, mode: now.mode } : {}
  if (before.type === 'unread' && before.marks === '')
    return { path, change: 'created', before: { type: 'absent' }, ...after }
  const image =
    before.type === 'read' && bytes !== null
      ? await keepBefore(bytes, before.mode, blobs)
      : { type: 'not_kept' as const, why: unreadWhy }
  const isGone = now.type === 'unread' && now.marks === ''
  return isGone ? { path, change: 'deleted', before: image } : { path, change: 'modified', before: image, ...after }
}
