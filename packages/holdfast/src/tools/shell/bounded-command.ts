import type { BoundedFile, LaterRun, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BlobHash, escapeLine, type FileChange } from '@holdfast/protocol'
import { judgeBounded } from '../files/change/run-change.ts'
import { type Content, fileChange, isSameContent, markOf, readContent, unreadWhy } from './bounded-content.ts'
import type { CapturedFiles } from './touched-files.ts'

/** The files with edit boundaries as they were when a command started, by path. */
export type BoundedBefore = ReadonlyMap<string, { readonly counted: BlobHash; readonly content: Content }>

/** Reads the files with edit boundaries before a command starts. */
export async function readBounded({ boundaries = [], workdir }: ToolContext): Promise<BoundedBefore> {
  const before = new Map<string, { counted: BlobHash; content: Content }>()
  for (const { path, content: counted } of boundaries) {
    const content = await readContent(workdir, path)
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
   * the same time, those that would find the same do not find it again. Once the command has ended, all other files that
   * changed are recorded too. Never rejects.
   */
  judge(others: readonly CommandJudge[], hasEnded: boolean): Promise<readonly string[]>
  /** Goes on with `now` if it last saw the files as they were `before`. */
  follow(before: BoundedBefore, now: BoundedBefore): void
}

/** Creates the judge of a command that goes on in the background. `before` and `captured` are the files when it started. */
export function createCommandJudge(
  before: BoundedBefore,
  { recordLater }: Pick<ToolRun, 'recordLater'>,
  captured: CapturedFiles | null,
): CommandJudge {
  let compared = before
  return {
    async judge(others, hasEnded) {
      let violations: readonly string[] = []
      await recordLater?.(async (context, run) => {
        const found = await findChanges(compared, context, run)
        for (const other of others) other.follow(compared, found.now)
        compared = found.now
        violations = found.violations
        const more = hasEnded && captured ? await captured.findLater(found.files, context, run) : []
        const files = [...found.files, ...more]
        return { files, ...(violations.length > 0 && { notice: noticeOf(violations) }) }
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

/** Fails a result with what was changed outside edit boundaries, if anything was. */
export function withViolations(result: ToolResult, violations: readonly string[]): ToolResult {
  if (violations.length === 0) return result
  const text = [result.output.text, ...violations.map((one) => `[outside_boundary: ${one}]`), changesStay].join('\n')
  return { ...result, type: 'failed', output: { ...result.output, text } }
}

const changesStay = 'What was changed is in the files. A person can put them back as they were before the call.'

const noticeOf = (violations: readonly string[]): string =>
  `A command in the background changed lines that it may not change.\n${violations.join('\n')}\n${changesStay}`

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

const readCounted = async ({ content }: BoundedFile, { openBlob }: ToolContext): Promise<Buffer | null> =>
  openBlob ? Buffer.concat(await Array.fromAsync(await openBlob(content))) : null

async function compare(
  bounded: BoundedFile,
  captured: BoundedBefore,
  context: ToolContext,
  run: LaterRun,
): Promise<{ readonly change: FoundChange | null; readonly now: Content }> {
  const now = await readContent(context.workdir, bounded.path)
  const then = captured.get(bounded.path)
  // Since the command started, a tool has changed the file, or a person has set the boundary: they know its content.
  const isNewer = then?.counted !== bounded.content
  const before: Content = isNewer
    ? { type: 'read', hash: bounded.content, bytes: null, mode: now.type === 'read' ? now.mode : 0o644 }
    : then.content
  return { change: isSameContent(before, now) ? null : await describeChange(bounded, before, now, context, run), now }
}

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
  if (now.type === 'linked') return { file, violation: `${shown} was replaced: ${linkedTo(now)}` }
  if (now.type === 'unread' || now.bytes === null)
    return { file, violation: `${shown} changed, and is now too large or cannot be read` }
  // A file that was gone or a link, and is there again, is compared with what the lines were counted in.
  const compared = bytes ?? (file.change === 'created' || before.type === 'linked' ? counted : null)
  if (compared === null) return { file, violation: `${shown} changed, and cannot be compared: ${unreadWhy}` }
  if (signal.aborted) return { file, violation: `${shown} changed, and was not compared: the call was aborted` }
  const pair = { path, range: { start, end }, counted, before: compared, after: now.bytes }
  const verdict = await judgeBounded(pair, signal)
  if ('violation' in verdict) return { file, violation: verdict.violation }
  const kept = blobs && { ...verdict.range, content: (await blobs.put(now.bytes)).hash }
  return { file: { ...file, ...(kept && { boundary: kept }) }, violation: null }
}

const linkedTo = ({ to }: Extract<Content, { readonly type: 'linked' }>): string =>
  `it is reached through a link now, at ${to === null ? 'a path outside the working directory' : escapeLine(to)}`
