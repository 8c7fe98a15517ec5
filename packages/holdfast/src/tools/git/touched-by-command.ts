import { existsSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OwnPath, SeenEntry, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BeforeImage, type FileChange, isSameState } from '@holdfast/protocol'
import { keepBefore } from '../files/io/before-image.ts'
import { createWorkspaceFiles } from '../files/workspace-files.ts'
import { readCommitted } from './committed-file.ts'
import { type GitDeps, openRepository, type Repository } from './repository.ts'

/** A larger tree is not compared; a command must not wait long for git. */
const statusTimeoutMs = 5000
const changedMax = 1000
/** Files that git sees as changed before a command are read, up to this size together. */
const capturedBytesMax = 32 * 1024 * 1024
const capturedMax = 2000

type TouchedDeps = GitDeps & { readonly ownPaths?: readonly OwnPath[] | undefined }

/**
 * Records which files a command changed, as git sees them: in a git work tree the state before and after it is compared.
 * Ignored files, and commands in the background, are not covered.
 */
export const withTouchedFiles = (tool: Tool, deps: TouchedDeps): Tool => ({
  ...tool,
  async run(args, context, run) {
    const isCompared = args['background'] !== true && isInWorkTree(context.workdir)
    const before = isCompared ? await capture(context, deps, run) : null
    const result = await tool.run(args, context, run)
    if (before === null || run.signal.aborted) return result
    return withFiles(result, await compare(before, result, context, deps, run))
  },
})

function isInWorkTree(workdir: string): boolean {
  for (let at = workdir; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true
    if (at === dirname(at)) return false
  }
}

/** The files that differ from the last commit, with their content; null for one that was not read. */
type Captured = {
  readonly head: string | null
  readonly files: ReadonlyMap<string, SeenEntry | null>
  readonly startedMs: number
}

async function capture({ workdir }: ToolContext, deps: TouchedDeps, { signal }: ToolRun): Promise<Captured | null> {
  const opened = await openRepository(workdir, deps, signal)
  if (!opened.ok) return null
  const status = await readStatus(opened.value)
  if (status === null || status.paths.length > capturedMax) return null
  const { look } = createWorkspaceFiles(deps.ownPaths ?? [])
  const files = new Map<string, SeenEntry | null>()
  let bytes = 0
  for (const path of status.paths) {
    const found = bytes > capturedBytesMax ? null : await look(workdir, path)
    bytes += found?.bytes?.length ?? 0
    files.set(path, found)
  }
  return { head: status.head, files, startedMs: Date.now() }
}

/** Returns the last commit, and the paths in the workdir that differ from it; null if git cannot say that quickly. */
async function readStatus({ git, prefix }: Repository) {
  const flags = ['--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--ignore-submodules=all', '--no-renames']
  const listed = await git(['status', ...flags, '--', '.'], { timeoutMs: statusTimeoutMs })
  if (!listed.ok || listed.value.isCut) return null
  const paths: string[] = []
  let head: string | null = null
  for (const part of listed.value.text.split('\0')) {
    const fields = part.split(' ')
    if (part.startsWith('# branch.oid ') && fields[2] !== '(initial)') head = fields[2] ?? null
    const skipped = part.startsWith('1 ') ? 8 : part.startsWith('u ') ? 10 : part.startsWith('? ') ? 1 : null
    const path = skipped === null ? '' : fields.slice(skipped).join(' ')
    if (path !== '' && path.startsWith(prefix) && !path.endsWith('/')) paths.push(path.slice(prefix.length))
  }
  return { head, paths }
}

/** Returns the paths that differ between two commits. */
async function readMoved({ git, prefix }: Repository, from: string | null, to: string | null) {
  if (from === to || from === null || to === null) return []
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=all']
  const listed = await git(['diff-tree', ...flags, from, to, '--', '.'], { timeoutMs: statusTimeoutMs })
  if (!listed.ok) return []
  return listed.value.text
    .split('\0')
    .flatMap((path) => (path.startsWith(prefix) && path !== '' ? [path.slice(prefix.length)] : []))
}

async function compare(
  { head, files, startedMs }: Captured,
  result: ToolResult,
  { workdir }: ToolContext,
  deps: TouchedDeps,
  { blobs, signal }: ToolRun,
): Promise<readonly FileChange[]> {
  // Opened again: the command may have put a program into the repository's configuration.
  const opened = await openRepository(workdir, deps, signal)
  if (!opened.ok) return []
  const { value: repository } = opened
  const status = await readStatus(repository)
  if (status === null) return []
  const moved = await readMoved(repository, head, status.head)
  const known = new Set((result.files ?? []).map(({ path }) => path))
  const paths = [...new Set([...files.keys(), ...status.paths, ...moved])].filter((path) => !known.has(path))
  const { look } = createWorkspaceFiles(deps.ownPaths ?? [])
  const changes: FileChange[] = []
  for (const path of paths) {
    if (changes.length >= changedMax) break
    const now = await look(workdir, path)
    const then = files.has(path) ? (files.get(path) ?? 'unknown') : await readThen(repository, head, path, now)
    if (then === 'same' || (typeof then !== 'string' && now !== null && isSameState(then.state, now.state))) continue
    const change = await toChange(path, then, now, { workdir, startedMs, blobs })
    if (change) changes.push(change)
  }
  return changes
}

/** Returns what was at a path that git saw as unchanged before the command. */
async function readThen(
  repository: Repository,
  head: string | null,
  path: string,
  now: SeenEntry | null,
): Promise<SeenEntry | 'same' | 'unknown'> {
  const found = head === null ? null : await readCommitted(repository, head, path, now)
  return found ?? { state: { type: 'absent' }, bytes: null }
}

type ChangeOptions = Pick<ToolRun, 'blobs'> & { readonly workdir: string; readonly startedMs: number }

async function toChange(
  path: string,
  then: SeenEntry | 'unknown',
  now: SeenEntry | null,
  { workdir, startedMs, blobs }: ChangeOptions,
): Promise<FileChange | null> {
  const before = await toBefore(then, blobs)
  const after = now?.state.type === 'file' ? { after: now.state.hash, mode: now.state.mode } : {}
  if (now?.state.type === 'absent') return before.type === 'absent' ? null : { path, change: 'deleted', before }
  if (before.type !== 'absent') return { path, change: 'modified', before, ...after }
  // A file that was ignored is new to git, but the command did not make it.
  const stats = await lstat(join(workdir, path)).catch(() => null)
  const isNew = stats !== null && stats.birthtimeMs >= startedMs - clockSlackMs
  if (isNew) return { path, change: 'created', before, ...after }
  return {
    path,
    change: 'modified',
    before: { type: 'not_kept', why: 'git did not track it before the command' },
    ...after,
  }
}

/** File systems and clocks round times. */
const clockSlackMs = 10

async function toBefore(then: SeenEntry | 'unknown', blobs: ToolRun['blobs']): Promise<BeforeImage> {
  if (then === 'unknown') return { type: 'not_kept', why: 'it was too large to be read before the command' }
  const { state, bytes } = then
  return state.type === 'file' && bytes ? keepBefore(bytes, state.mode, blobs) : state
}

const withFiles = (result: ToolResult, found: readonly FileChange[]): ToolResult =>
  found.length === 0 ? result : { ...result, files: [...(result.files ?? []), ...found] }
