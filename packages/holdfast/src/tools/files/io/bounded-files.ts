import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoundedFile, Tool, ToolContext } from '@holdfast/core/ports'
import { escapeLine, fault, type LineChange, type LineRange, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { resolvePath, type WorkspacePath } from '../../../system/files/resolve-path.ts'
import { checkChanges, checkTexts, findBoundary } from '../../edits/boundary.ts'
import { decodeText } from '../../edits/decode-text.ts'

/** Lets a file tool see the content that the lines of a boundary were counted in, if a call concerns its file. */
export const withBoundaries = (tool: Tool): Tool => ({
  ...tool,
  prepare: async (args, context, signal) => tool.prepare(args, await loadBoundaries(context, args['path']), signal),
  run: async (args, context, run) => tool.run(args, await loadBoundaries(context, args['path']), run),
})

async function loadBoundaries(context: ToolContext, path: unknown): Promise<ToolContext> {
  const { boundaries = [], openBlob, workdir } = context
  if (boundaries.length === 0 || openBlob === undefined || typeof path !== 'string') return context
  if (path.length > limits.toolPathCharsMax) return context // the tool refuses it
  const resolved = await resolvePath(workdir, path)
  const bounded = resolved.ok ? boundaries.find((one) => one.path === resolved.value.shown) : undefined
  if (bounded === undefined) return context
  const counted = Buffer.concat(await Array.fromAsync(await openBlob(bounded.content)))
  const others = boundaries.filter((one) => one !== bounded)
  return { ...context, boundaries: [...others, { ...bounded, counted }] }
}

/** A text before and after an edit. `before` is null if there is no file, or none that is text. */
type EditedText = { readonly before: string | null; readonly after: string; readonly changes: readonly LineChange[] }

/**
 * Returns the lines of the file's boundary after an edit; null if it has none. Refused: outside_boundary. A file that is
 * written whole is judged by the lines that differ, other edits by what they replace.
 */
export async function checkBoundary(
  boundaries: readonly BoundedFile[] | undefined,
  path: string,
  { before, after, changes }: EditedText,
  isWhole: boolean,
): Promise<Result<LineRange | null>> {
  const bounded = boundaries?.find((one) => one.path === path)
  if (bounded === undefined) return ok(null)
  const shown = escapeLine(path)
  const decoded = bounded.counted && (await decodeText(Buffer.from(bounded.counted)))
  if (before === null || !decoded)
    return refuse(
      fault(
        'outside_boundary',
        `${shown} has an edit boundary, and the text that it was set in is gone: the file was deleted or moved, or is no text now. Nothing may be changed until a person puts it back, or sets or clears the boundary.`,
        { path },
      ),
    )
  const now = findBoundary(shown, bounded, decoded.text, before)
  if (!now.ok) return now
  return isWhole ? checkTexts(shown, now.value, before, after) : checkChanges(shown, now.value, changes)
}

/**
 * Refuses to change a file that is, under another name, one with a boundary: a hard link, or another spelling on a file system
 * that folds names. Both names have the same bytes, and the lines of this one are not counted.
 */
export async function refuseAlias(
  workdir: string,
  boundaries: readonly BoundedFile[] | undefined,
  { absolute, shown, missing }: WorkspacePath,
): Promise<Result<void>> {
  const stats = missing.length > 0 ? null : await lstat(absolute).catch(() => null)
  if (stats === null || !stats.isFile()) return ok(undefined)
  for (const { path } of boundaries ?? []) {
    const bounded = path === shown ? null : await lstat(join(workdir, path)).catch(() => null)
    if (bounded?.ino !== stats.ino || bounded.dev !== stats.dev) continue
    const message = `${escapeLine(shown)} is another name of ${escapeLine(path)}, which has an edit boundary. Use that name.`
    return refuse(fault('outside_boundary', message, { path: shown }))
  }
  return ok(undefined)
}

/**
 * Refuses to change what the path of a boundary leads to now, if that path or a folder of it has become a link, and the link
 * itself. Nobody knows whether this is the file that the lines were counted in.
 */
export async function refuseLinked(
  workdir: string,
  boundaries: readonly BoundedFile[] | undefined,
  { shown, absolute }: WorkspacePath,
): Promise<Result<void>> {
  const others = boundaries?.filter(({ path }) => path !== shown) ?? []
  const found = await Promise.all(others.map(async ({ path }) => ({ path, now: await resolvePath(workdir, path) })))
  const linked = found.find(({ now }) => now.ok && [now.value.absolute, ...now.value.links].includes(absolute))
  if (!linked?.now.ok) return ok(undefined)
  const bounded = escapeLine(linked.path)
  const message = `${bounded} has an edit boundary, and was replaced: it is reached through a link now, at ${escapeLine(linked.now.value.shown)}. Nothing may be changed until a person sets the boundary of ${bounded} again.`
  return refuse(fault('outside_boundary', message, { path: shown, bounded: linked.path }))
}

/**
 * Refuses to change a file that has the content of one with a boundary whose path is empty now: a command or a person has
 * moved it. A boundary of its own counts instead.
 */
export async function refuseMoved(
  workdir: string,
  boundaries: readonly BoundedFile[] | undefined,
  { shown, absolute, missing }: WorkspacePath,
): Promise<Result<void>> {
  if (!boundaries?.length || missing.length > 0 || boundaries.some(({ path }) => path === shown)) return ok(undefined)
  const isGone = async ({ path }: BoundedFile) => (await lstat(join(workdir, path)).catch(() => null)) === null
  const areGone = await Promise.all(boundaries.map(isGone))
  const gone = boundaries.filter((_, index) => areGone[index])
  const content = gone.length === 0 ? null : await hashFile(absolute)
  const moved = gone.find((one) => one.content === content)
  if (moved === undefined) return ok(undefined)
  const [was, now] = [escapeLine(moved.path), escapeLine(shown)]
  const message = `${now} has the content of ${was}, which has an edit boundary and was moved. Nothing may be changed until a person puts ${was} back, sets a boundary for ${now}, or clears that of ${was}.`
  return refuse(fault('outside_boundary', message, { path: shown, bounded: moved.path }))
}

/** Hashes a file chunk by chunk; null if it is empty, too long to have a boundary, or not readable. */
async function hashFile(absolute: string): Promise<string | null> {
  const stats = await lstat(absolute).catch(() => null)
  if (!stats?.isFile() || stats.size === 0 || stats.size > limits.editedFileBytesMax) return null
  const hash = createHash('sha256')
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    await using handle = await open(absolute, flags)
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk)
  } catch {
    return null // the tool itself reports that it cannot be read
  }
  return hash.digest('hex')
}

/** Refuses to delete or rename a file with a boundary, and to put another one in its place. */
export function refuseBounded(boundaries: readonly BoundedFile[] | undefined, path: string): Result<void> {
  if (!boundaries?.some((one) => one.path === path)) return ok(undefined)
  const message = `${escapeLine(path)} has an edit boundary, so it may not be deleted, renamed or replaced`
  return refuse(fault('outside_boundary', message, { path }))
}
