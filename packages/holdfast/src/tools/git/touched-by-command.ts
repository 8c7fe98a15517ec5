import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LeftPath, SeenEntry, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BeforeImage, type FileChange, isSameState, limits, ok } from '@holdfast/protocol'
import { keepBefore } from '../files/io/before-image.ts'
import { identify } from '../files/io/file-content.ts'
import { createWorkspaceFiles } from '../files/workspace-files.ts'
import type { TouchedFiles } from '../shell/touched-files.ts'
import {
  type BeforeAmongCalls,
  beforeOf,
  bytePath,
  type Captured,
  capture,
  readCommittedBefore,
  stampOf,
  type TouchedDeps,
  withCalls,
} from './before-command.ts'
import type { CommittedFile } from './committed-files.ts'
import { pairMoves } from './pair-moves.ts'
import { findTop } from './plain-repository.ts'
import { readMoved, readStatus } from './read-status.ts'
import { inRepository, type Repository } from './repository.ts'

const changedMax = 1000
/** Paths that are compared after a command, of those that differ from the last commit. */
const comparedMax = 20_000
/** Time to compare after an abort; the runtime stops waiting at `limits.stopWaitMs`. */
const comparedMsMax = limits.stopWaitMs - 1000
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

/** What a command changed. */
type Compared = {
  readonly files: readonly FileChange[]
  /** Whether it changed files with names that are not UTF-8, which are not recorded. */
  readonly hasUnreadable: boolean
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

/** Whether a path is in a nested repository, which `git status` of this one does not cover. */
function isInOtherRepository(workdir: string, path: string): boolean {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    if (existsSync(join(workdir, path.slice(0, at), '.git'))) return true
  return false
}

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
