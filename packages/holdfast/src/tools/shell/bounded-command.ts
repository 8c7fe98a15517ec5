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

/**
 * Lets a tool that may change any file run as a command does: what it did to files with edit boundaries is compared. Of a
 * tool that says it changes nothing, only what it changed outside counts: others may work at the same time.
 */
export const withBoundedFiles = (tool: Tool): Tool => ({
  ...tool,
  async run(args, context, run) {
    const before = await readBounded(context)
    const result = await tool.run(args, context, run)
    const compared = await compareBounded(result, before, context, run)
    return tool.isReadOnly && !compared.files?.some(({ outside }) => outside) ? result : compared
  },
})

/** Judges what a command in the background does to files with edit boundaries. */
export interface CommandJudge {
  /**
   * Records what changed since the last time, and returns what changed outside the boundaries. Of the others that run at
   * the same time, those that would find the same do not find it again. Never rejects.
   */
  judge(others: readonly CommandJudge[]): Promise<readonly string[]>
  /** Goes on with `now` if it last saw the files as they were `before`. */
  follow(before: BoundedBefore, now: BoundedBefore): void
}

/** Creates the judge of a command that goes on in the background. `before` are the files when it started. */
export function createCommandJudge(before: BoundedBefore, { recordLater }: Pick<ToolRun, 'recordLater'>): CommandJudge {
  let compared = before
  return {
    async judge(others) {
      let violations: readonly string[] = []
      await recordLater?.(async (context, run) => {
        const found = await findChanges(compared, context, run)
        for (const other of others) other.follow(compared, found.now)
        compared = found.now
        violations = found.violations
        return { files: found.files, ...(violations.length > 0 && { notice: noticeOf(violations) }) }
      })
      return violations
    },
    follow(from, now) {
      if (isSameBefore(compared, from)) compared = now
    },
  }
}

const isSameBefore = (one: BoundedBefore, other: BoundedBefore): boolean =>
  one.size === other.size &&
  [...one].every(([path, { counted, content }]) => {
    const found = other.get(path)
    return found?.counted === counted && markOf(found.content) === markOf(content)
  })

const markOf = (content: Content): string => (content.type === 'read' ? content.hash : content.marks)

/** Fails a result with what was changed outside edit boundaries, if anything was. */
export function withViolations(result: ToolResult, violations: readonly string[]): ToolResult {
  if (violations.length === 0) return result
  const text = [result.output.text, ...violations.map((one) => `[outside_boundary: ${one}]`)].join('\n')
  return { ...result, type: 'failed', output: { ...result.output, text } }
}

const noticeOf = (violations: readonly string[]): string =>
  `A command in the background changed lines that it may not change.\n${violations.join('\n')}`

type Found = {
  readonly files: readonly FileChange[]
  readonly violations: readonly string[]
  /** The files as they are now. */
  readonly now: BoundedBefore
}

async function findChanges(before: BoundedBefore, context: ToolContext, run: LaterRun): Promise<Found> {
  const found: FoundChange[] = []
  const nowAll = new Map<string, { counted: BlobHash; content: Content }>()
  for (const bounded of context.boundaries ?? []) {
    const { change, now } = await compare(bounded, before, context, run)
    if (change) found.push(change)
    const counted = change?.file.boundary?.content ?? bounded.content
    const isCounted = now.type === 'read' && now.hash === counted
    nowAll.set(bounded.path, { counted, content: isCounted ? { ...now, bytes: null } : now })
  }
  return {
    files: found.map(({ file, violation }) => (violation === null ? file : { ...file, outside: true })),
    violations: found.flatMap(({ violation }) => (violation === null ? [] : [violation])),
    now: nowAll,
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
): Promise<{ readonly change: FoundChange | null; readonly now: Content }> {
  const now = await readNow(context.workdir, bounded.path)
  const then = captured.get(bounded.path)
  // Since the command started, a tool has changed the file, or a person has set the boundary: they know its content.
  const isNewer = then?.counted !== bounded.content
  const before: Content = isNewer
    ? { type: 'read', hash: bounded.content, bytes: null, mode: now.type === 'read' ? now.mode : 0o644 }
    : then.content
  const isSame = before.type === 'read' ? now.type === 'read' && now.hash === before.hash : isSameUnread(before, now)
  return { change: isSame ? null : await describeChange(bounded, before, now, context, run), now }
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
