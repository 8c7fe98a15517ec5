import { existsSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LeftPath, OwnPath, SeenEntry, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BeforeImage, type FileChange, isSameState, limits, ok } from '@holdfast/protocol'
import { keepBefore } from '../files/io/before-image.ts'
import { identify } from '../files/io/file-content.ts'
import { createWorkspaceFiles } from '../files/workspace-files.ts'
import type { TouchedFiles } from '../shell/touched-files.ts'
import { type CommittedFile, entryOf, listCommitted, readCommitted } from './committed-files.ts'
import { pairMoves } from './pair-moves.ts'
import { findTop } from './plain-repository.ts'
import { readMoved, readStatus } from './read-status.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'

const changedMax = 1000
/** Paths that are compared after a command, of those that differ from the last commit. */
const comparedMax = 20_000
/** Time to compare after an abort; the runtime stops waiting at `limits.stopWaitMs`. */
const comparedMsMax = limits.stopWaitMs - 1000
/** Files that git sees as changed before a command are read, up to this size together. */
const capturedBytesMax = 32 * 1024 * 1024
const capturedMax = 2000

type TouchedDeps = GitDeps & { readonly ownPaths?: readonly OwnPath[] | undefined }

/**
 * Finds which files a command changed, as git sees them: in a git work tree the state before and after it is compared. Also
 * those of a command that failed, was ended or was aborted, or went on in the background. Ignored files are not covered.
 */
export const createTouchedFiles = (deps: TouchedDeps): TouchedFiles => ({
  async capture(context, run) {
    const before = (await findTop(context.workdir)) === null ? null : await capture(context, deps, run)
    if (before === null) return null
    return {
      async addTo(result, { workdir }, { signal, blobs }) {
        // An aborted command has changed files too. Git gets a signal of its own then: that of the call would end it at once.
        const until = signal.aborted ? AbortSignal.timeout(comparedMsMax) : signal
        const found = { known: result.files ?? [], workdir, blobs, ...deps }
        return withChanges(result, await compare(before, found, until))
      },
      async findLater(known, { workdir }, { signal, blobs, left }) {
        const found = { known, workdir, blobs, left: (await left?.()) ?? new Map(), ...deps }
        const { files } = await compare(before, found, signal)
        return files.map((file) => ({ ...file, during: true }))
      },
    }
  },
})

/** A file that was not read: it is too large, or belongs to Holdfast. Its stamp tells whether it has changed. */
type Unread = { readonly stamp: string }

/** What was there before a command. */
type Captured = {
  readonly head: string | null
  /** The files that differ from the last commit. */
  readonly files: ReadonlyMap<string, SeenEntry | Unread>
  /** What git ignores: files, and directories that end with '/'. */
  readonly ignored: readonly string[]
  /** The stamps of files that differ and have names that are not UTF-8. */
  readonly unreadable: ReadonlyMap<string, string>
}

/** What a command changed. */
type Compared = {
  readonly files: readonly FileChange[]
  /** Whether it changed files with names that are not UTF-8, which are not recorded. */
  readonly hasUnreadable: boolean
}

async function capture(
  { workdir }: ToolContext,
  deps: TouchedDeps,
  { signal }: Pick<ToolRun, 'signal'>,
): Promise<Captured | null> {
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
    const stamp = found === null || found.state.type === 'absent' ? await stampOf(join(workdir, path)) : ''
    files.set(path, found === null || stamp !== '' ? { stamp } : found) // a folder that git lists is another repository
  }
  const unreadable = new Map<string, string>()
  for (const name of status.unreadable) unreadable.set(name, await stampOf(bytePath(workdir, name)))
  return { head: status.head, files, ignored: status.ignored, unreadable }
}

/** The path of a file whose name is given as Latin-1, byte by byte. */
const bytePath = (workdir: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${workdir}/`), Buffer.from(name, 'latin1')])

/** Changes whenever a file is written, replaced or removed. */
async function stampOf(path: string | Buffer): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  return stats === null ? '' : [stats.dev, stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}

async function compare(before: Captured, deps: CompareDeps, signal: AbortSignal): Promise<Compared> {
  // Opened again: the command may have put a program into the repository's configuration.
  const found = await inRepository(deps.workdir, deps, signal, async (repository) =>
    ok(await compareIn(repository, before, deps)),
  )
  return found.ok ? found.value : nothing
}

const nothing: Compared = { files: [], hasUnreadable: false }

type CompareDeps = TouchedDeps &
  Pick<ToolContext, 'workdir'> &
  Pick<ToolRun, 'blobs'> & {
    /** What was found already. */
    readonly known: readonly FileChange[]
    /** What other calls found and left at paths since the command started. */
    readonly left?: ReadonlyMap<string, LeftPath> | undefined
  }

async function compareIn(
  repository: Repository,
  { head, files, ignored, unreadable }: Captured,
  { workdir, ownPaths = [], blobs, known: found, left = new Map() }: CompareDeps,
): Promise<Compared> {
  const status = await readStatus(repository)
  if (status === null) return nothing
  const moved = await readMoved(repository, head, status.head)
  const known = new Set(found.map(({ path }) => path))
  const isIgnored = ignoredTest(ignored)
  const isCovered = ignoredTest([...ignored, ...status.ignored])
  // A file that another call has put back as it was committed does not differ now, though the command changed it.
  const ofCalls = [...left.keys()].filter((path) => !isCovered(path) && !isInOtherRepository(workdir, path))
  const differing = new Set([...files.keys(), ...status.paths, ...moved.paths, ...ofCalls]).difference(known)
  const paths = [...differing.values().take(comparedMax)]
  const unread = paths.filter((path) => !files.has(path))
  const listed = head === status.head ? status.committed : new Map<string, CommittedFile | null>()
  const committedBefore = await readCommittedBefore(repository, head, unread, listed)
  const { look } = createWorkspaceFiles(ownPaths)
  const isThere = async (path: string) => (await stampOf(join(workdir, path))) !== ''
  const changes: FileChange[] = []
  const links = new Map<string, string>()
  for (const path of paths) {
    if (changes.length >= changedMax) break
    const captured = files.get(path)
    if (captured && 'stamp' in captured && captured.stamp === (await stampOf(join(workdir, path)))) continue
    const seen = await look(workdir, path)
    const was = captured ? beforeOf(captured) : committedBefore(path, seen)
    const before = withCalls(was, seen, left.get(path), isIgnored(path))
    if (before.type === 'as now' || before.type === 'of another call') continue
    // A repository in this one is a folder, and still there.
    const now = before.type !== 'known' && seen?.state.type === 'absent' && (await isThere(path)) ? null : seen
    const isAsBefore = before.type === 'known' && now !== null && isSameState(before.entry.state, now.state)
    if (isAsBefore && !left.has(path)) continue
    changes.push(await toChange(path, before, now, { wasIgnored: isIgnored(path), blobs }))
    if (now?.state.type === 'link') links.set(path, now.state.target)
  }
  const names = [...unreadable.keys(), ...status.unreadable, ...moved.unreadable]
  return { files: pairMoves(changes, links), hasUnreadable: await hasChanged(workdir, names, unreadable) }
}

/** What was at a path before a command. */
type Before =
  | { readonly type: 'known'; readonly entry: SeenEntry }
  /** What is there now: nothing has changed. */
  | { readonly type: 'as now' }
  /** It was not read before the command. */
  | { readonly type: 'unknown' }

/** What was at a path before a command, if other calls may have changed it while the command ran. */
type BeforeAmongCalls =
  | Before
  /** Others have changed it besides the command, and what it was before is not known. */
  | { readonly type: 'mixed' }
  /** The command has not changed it. */
  | { readonly type: 'of another call' }

const beforeOf = (captured: SeenEntry | Unread): Before =>
  'stamp' in captured ? { type: 'unknown' } : { type: 'known', entry: captured }

/**
 * Returns what was at a path before a command, though other calls changed it while the command ran: their changes are a part
 * of what is recorded for the command then. What only they changed is theirs.
 */
function withCalls(
  was: Before,
  seen: SeenEntry | null,
  calls: LeftPath | undefined,
  wasIgnored: boolean,
): BeforeAmongCalls {
  if (calls === undefined) return was
  const { left } = calls
  if (left === null) return { type: 'mixed' }
  const before: Before = was.type === 'as now' && seen !== null ? { type: 'known', entry: seen } : was
  const isTheirs = seen !== null && isSameState(seen.state, left)
  if (isTheirs && (wasIgnored || !isChangedBefore(calls, before))) return { type: 'of another call' }
  return before.type === 'known' && !wasIgnored ? before : { type: 'mixed' }
}

/** Whether a path is in a nested repository, which `git status` of this one does not cover. */
function isInOtherRepository(workdir: string, path: string): boolean {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    if (existsSync(join(workdir, path.slice(0, at), '.git'))) return true
  return false
}

/** Whether a file had changed when the first other call found it: the command did that, or somebody else meanwhile. */
function isChangedBefore({ found }: LeftPath, was: Before): boolean {
  if (found === null || found.type === 'not_kept' || was.type !== 'known') return false
  const { state } = was.entry
  // Of the mode a commit knows only whether it can be run.
  if (found.type === 'file' && state.type === 'file')
    return found.hash !== state.hash || isRunnable(found.mode) !== isRunnable(state.mode)
  return !isSameState(found, state)
}

const isRunnable = (mode: number | null): boolean => ((mode ?? 0) & 0o100) !== 0

/** Returns whether git ignores a path or a folder above it. There may be as many ignored paths as changed ones. */
function ignoredTest(ignored: readonly string[]): (path: string) => boolean {
  const known = new Set(ignored)
  return (path) => {
    if (known.has(path)) return true
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      if (known.has(path.slice(0, at + 1))) return true
    return false
  }
}

/** Whether one of the files is not as it was. One without a stamp was as in the commit, or not there. */
async function hasChanged(workdir: string, names: readonly string[], before: Captured['unreadable']): Promise<boolean> {
  for (const name of new Set(names)) if (before.get(name) !== (await stampOf(bytePath(workdir, name)))) return true
  return false
}

/**
 * Reads what was at paths that git saw as unchanged before the command: what the commit has, if any. `listed` is what the
 * status said about them.
 */
async function readCommittedBefore(
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
  return (path: string, now: SeenEntry | null): Before => {
    const file = known.get(path)
    const bytes = contents.get(path)
    if (file && !bytes) return { type: 'unknown' }
    if (file && bytes) {
      const entry = entryOf(file, bytes, now)
      return entry === null ? { type: 'as now' } : { type: 'known', entry }
    }
    if (asked === null && !listed.has(path)) return { type: 'unknown' }
    return { type: 'known', entry: { state: { type: 'absent' }, bytes: null } }
  }
}

type ChangeOptions = Pick<ToolRun, 'blobs'> & { readonly wasIgnored: boolean }

async function toChange(
  path: string,
  found: Changed,
  now: SeenEntry | null,
  { wasIgnored, blobs }: ChangeOptions,
): Promise<FileChange> {
  const before = await toBefore(found, blobs)
  if (now?.state.type === 'absent') return { path, change: 'deleted', contentHash: identify(path, null), before }
  const contentHash = now?.state.type === 'file' ? { contentHash: identify(path, now.state.hash) } : {}
  const after = now ? { ...contentHash, ...leftAt(now.state) } : {}
  if (before.type !== 'absent') return { path, change: 'modified', before, ...after }
  if (!wasIgnored) return { path, change: 'created', before, ...after }
  // It is new to git, but the command did not make it.
  const why = 'git ignored it before the command'
  return { path, change: 'modified', before: { type: 'not_kept', why }, ...after }
}

function leftAt(state: SeenEntry['state']): Pick<FileChange, 'after' | 'mode' | 'link'> {
  if (state.type === 'file') return { after: state.hash, mode: state.mode }
  return state.type === 'link' ? { link: state.target } : {}
}

/** What was at a path that has changed. */
type Changed = Extract<BeforeAmongCalls, { type: 'known' | 'unknown' | 'mixed' }>

async function toBefore(found: Changed, blobs: ToolRun['blobs']): Promise<BeforeImage> {
  switch (found.type) {
    case 'known': {
      const { state, bytes } = found.entry
      return state.type === 'file' && bytes ? keepBefore(bytes, state.mode, blobs) : state
    }
    case 'unknown':
      return { type: 'not_kept', why: 'it was not read before the command' }
    case 'mixed':
      return { type: 'not_kept', why: 'another call changed it while the command ran' }
  }
}

function withChanges(result: ToolResult, { files, hasUnreadable }: Compared): ToolResult {
  const recorded = files.length === 0 ? result : { ...result, files: [...(result.files ?? []), ...files] }
  return hasUnreadable ? { ...recorded, output: withLine(recorded.output, unreadableNotice) } : recorded
}

const unreadableNotice =
  '[files with names that are not UTF-8 were changed; they are not recorded and cannot be restored]'

const withLine = (output: ToolResult['output'], line: string): ToolResult['output'] => ({
  ...output,
  text: `${output.text}${output.text === '' || output.text.endsWith('\n') ? '' : '\n'}${line}`,
})
