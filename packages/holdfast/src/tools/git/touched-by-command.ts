import { existsSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OwnPath, SeenEntry, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BeforeImage, type FileChange, isSameState, limits, ok } from '@holdfast/protocol'
import { keepBefore } from '../files/io/before-image.ts'
import { createWorkspaceFiles } from '../files/workspace-files.ts'
import { type CommittedFile, entryOf, listCommitted, readCommitted } from './committed-files.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'

/** A larger tree is not compared; a command must not wait long for git. */
const statusTimeoutMs = 5000
const changedMax = 1000
/** How long an aborted command is compared. After `limits.stopWaitMs` nobody waits for it. */
const comparedMsMax = limits.stopWaitMs - 1000
/** Files that git sees as changed before a command are read, up to this size together. */
const capturedBytesMax = 32 * 1024 * 1024
const capturedMax = 2000

type TouchedDeps = GitDeps & { readonly ownPaths?: readonly OwnPath[] | undefined }

/**
 * Records which files a command changed, as git sees them: in a git work tree the state before and after it is compared.
 * Also those of a command that failed, was ended or was aborted. Ignored files and commands in the background are not covered.
 */
export const withTouchedFiles = (tool: Tool, deps: TouchedDeps): Tool => ({
  ...tool,
  async run(args, context, run) {
    const isCompared = args['background'] !== true && isInWorkTree(context.workdir)
    const before = isCompared ? await capture(context, deps, run) : null
    const result = await tool.run(args, context, run)
    if (before === null) return result
    // An aborted command has changed files too. Git gets a signal of its own then: that of the call would end it at once.
    const signal = run.signal.aborted ? AbortSignal.timeout(comparedMsMax) : run.signal
    return withFiles(result, await compare(before, result, context, deps, { ...run, signal }))
  },
})

function isInWorkTree(workdir: string): boolean {
  for (let at = workdir; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true
    if (at === dirname(at)) return false
  }
}

/** A file that was not read: it is too large, or belongs to Holdfast. Its stamp tells whether it has changed. */
type Unread = { readonly stamp: string }

/** What was there before a command. */
type Captured = {
  readonly head: string | null
  /** The files that differ from the last commit. */
  readonly files: ReadonlyMap<string, SeenEntry | Unread>
  /** What git ignores: files, and directories that end with '/'. */
  readonly ignored: readonly string[]
}

async function capture({ workdir }: ToolContext, deps: TouchedDeps, { signal }: ToolRun): Promise<Captured | null> {
  const captured = await inRepository(workdir, deps, signal, async (repository) =>
    ok(await captureIn(repository, workdir, deps)),
  )
  return captured.ok ? captured.value : null
}

async function captureIn(repository: Repository, workdir: string, deps: TouchedDeps): Promise<Captured | null> {
  const status = await readStatus(repository)
  if (status === null || status.paths.length > capturedMax) return null
  const { look } = createWorkspaceFiles(deps.ownPaths ?? [])
  const files = new Map<string, SeenEntry | Unread>()
  let bytes = 0
  for (const path of status.paths) {
    const found = bytes > capturedBytesMax ? null : await look(workdir, path)
    bytes += found?.bytes?.length ?? 0
    files.set(path, found ?? { stamp: await stampOf(join(workdir, path)) })
  }
  return { head: status.head, files, ignored: status.ignored }
}

/** Changes whenever a file is written, replaced or removed. */
async function stampOf(path: string): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  return stats === null ? '' : [stats.dev, stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}

/** Returns the last commit, the paths in the workdir that differ from it and those it ignores; null if git is too slow. */
async function readStatus({ git, prefix }: Repository) {
  const files = ['--untracked-files=all', '--ignored=matching', '--ignore-submodules=all', '--no-renames']
  const listed = await git(['status', '--porcelain=v2', '--branch', '-z', ...files, '--', '.'], {
    timeoutMs: statusTimeoutMs,
  })
  if (!listed.ok || listed.value.isCut) return null
  const paths: string[] = []
  const ignored: string[] = []
  /** Of the files of the last commit that are different now. Absent: git has to be asked. */
  const committed = new Map<string, CommittedFile | null>()
  let head: string | null = null
  for (const part of listed.value.text.split('\0')) {
    const fields = part.split(' ')
    if (part.startsWith('# branch.oid ') && fields[2] !== '(initial)') head = fields[2] ?? null
    const skipped = part.startsWith('1 ') ? 8 : part.startsWith('u ') ? 10 : part.startsWith('? ') ? 1 : null
    if (part.startsWith(`! ${prefix}`)) ignored.push(part.slice(2 + prefix.length))
    const path = skipped === null ? '' : fields.slice(skipped).join(' ')
    if (path === '' || !path.startsWith(prefix) || path.endsWith('/') || isUnreadable(path)) continue
    const below = path.slice(prefix.length)
    paths.push(below)
    const [, , , gitMode = '', , , object = ''] = fields
    if (part.startsWith('1 ')) committed.set(below, gitMode === '000000' ? null : { gitMode, object })
    else if (part.startsWith('? ') && !committed.has(below)) committed.set(below, null)
  }
  return { head, paths, ignored, committed }
}

/** Whether a name is not UTF-8: what stands for its bytes could be the name of another file. */
const isUnreadable = (path: string): boolean => path.includes('\ufffd')

/** Returns the paths that differ between two commits. */
async function readMoved({ git, prefix }: Repository, from: string | null, to: string | null) {
  if (from === to || from === null || to === null) return []
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=all']
  const listed = await git(['diff-tree', ...flags, from, to, '--', '.'], { timeoutMs: statusTimeoutMs })
  if (!listed.ok) return []
  return listed.value.text
    .split('\0')
    .flatMap((path) =>
      path.startsWith(prefix) && path !== '' && !isUnreadable(path) ? [path.slice(prefix.length)] : [],
    )
}

async function compare(
  before: Captured,
  result: ToolResult,
  { workdir }: ToolContext,
  deps: TouchedDeps,
  run: ToolRun,
): Promise<readonly FileChange[]> {
  // Opened again: the command may have put a program into the repository's configuration.
  const found = await inRepository(workdir, deps, run.signal, async (repository) =>
    ok(await compareIn(repository, before, result, { ...deps, workdir, blobs: run.blobs })),
  )
  return found.ok ? found.value : []
}

type CompareDeps = TouchedDeps & Pick<ToolContext, 'workdir'> & Pick<ToolRun, 'blobs'>

async function compareIn(
  repository: Repository,
  { head, files, ignored }: Captured,
  result: ToolResult,
  { workdir, ownPaths = [], blobs }: CompareDeps,
): Promise<readonly FileChange[]> {
  const status = await readStatus(repository)
  if (status === null) return []
  const moved = await readMoved(repository, head, status.head)
  const known = new Set((result.files ?? []).map(({ path }) => path))
  const paths = [...new Set([...files.keys(), ...status.paths, ...moved])].filter((path) => !known.has(path))
  const unread = paths.filter((path) => !files.has(path))
  const listed = head === status.head ? status.committed : new Map<string, CommittedFile | null>()
  const then = await readThen(repository, head, unread, listed)
  const { look } = createWorkspaceFiles(ownPaths)
  const changes: FileChange[] = []
  for (const path of paths) {
    if (changes.length >= changedMax) break
    const captured = files.get(path)
    if (captured && 'stamp' in captured && captured.stamp === (await stampOf(join(workdir, path)))) continue
    const now = await look(workdir, path)
    const before = captured ? ('stamp' in captured ? 'unknown' : captured) : then(path, now)
    if (before === 'same' || (typeof before !== 'string' && now !== null && isSameState(before.state, now.state)))
      continue
    const wasIgnored = ignored.some((one) => one === path || (one.endsWith('/') && path.startsWith(one)))
    const change = await toChange(path, before, now, { wasIgnored, blobs })
    if (change) changes.push(change)
  }
  return pairMoves(changes)
}

/** Joins a file that is gone and a new one with the same content: it was moved. */
function pairMoves(changes: readonly FileChange[]): readonly FileChange[] {
  const gone = new Map<string, FileChange>()
  for (const one of changes) if (one.change === 'deleted' && one.before?.type === 'file') gone.set(one.before.hash, one)
  const moves = changes.flatMap((one): readonly FileChange[] => {
    const from = one.change === 'created' && one.after ? gone.get(one.after) : undefined
    if (!from) return []
    gone.delete(one.after ?? '')
    return [{ ...one, change: 'moved', from: from.path, ...(from.before && { before: from.before }) }]
  })
  const joined = new Set(moves.flatMap(({ path, from }) => [path, from]))
  return [...changes.filter(({ path }) => !joined.has(path)), ...moves]
}

/**
 * Reads what was at paths that git saw as unchanged before the command: what the commit has, if any. `listed` is what the
 * status said about them.
 */
async function readThen(
  repository: Repository,
  head: string | null,
  paths: readonly string[],
  listed: ReadonlyMap<string, CommittedFile | null>,
) {
  const unlisted = head === null ? [] : paths.filter((path) => !listed.has(path))
  const asked = await listCommitted(repository, head ?? '', unlisted)
  const known = new Map<string, CommittedFile>(asked ?? [])
  for (const path of paths) {
    const file = listed.get(path)
    if (file) known.set(path, file)
  }
  const contents = await readCommitted(repository, known)
  return (path: string, now: SeenEntry | null): SeenEntry | 'same' | 'unknown' => {
    const file = known.get(path)
    const bytes = contents.get(path)
    if (file) return bytes ? entryOf(file, bytes, now) : 'unknown'
    return asked === null && !listed.has(path) ? 'unknown' : { state: { type: 'absent' }, bytes: null }
  }
}

type ChangeOptions = Pick<ToolRun, 'blobs'> & { readonly wasIgnored: boolean }

async function toChange(
  path: string,
  then: SeenEntry | 'unknown',
  now: SeenEntry | null,
  { wasIgnored, blobs }: ChangeOptions,
): Promise<FileChange | null> {
  const before = await toBefore(then, blobs)
  const after = now?.state.type === 'file' ? { after: now.state.hash, mode: now.state.mode } : {}
  if (now?.state.type === 'absent') return before.type === 'absent' ? null : { path, change: 'deleted', before }
  if (before.type !== 'absent') return { path, change: 'modified', before, ...after }
  if (!wasIgnored) return { path, change: 'created', before, ...after }
  // It is new to git, but the command did not make it.
  const why = 'git ignored it before the command'
  return { path, change: 'modified', before: { type: 'not_kept', why }, ...after }
}

async function toBefore(then: SeenEntry | 'unknown', blobs: ToolRun['blobs']): Promise<BeforeImage> {
  if (then === 'unknown') return { type: 'not_kept', why: 'it was not read before the command' }
  const { state, bytes } = then
  return state.type === 'file' && bytes ? keepBefore(bytes, state.mode, blobs) : state
}

const withFiles = (result: ToolResult, found: readonly FileChange[]): ToolResult =>
  found.length === 0 ? result : { ...result, files: [...(result.files ?? []), ...found] }
