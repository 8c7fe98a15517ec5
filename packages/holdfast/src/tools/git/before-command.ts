import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LeftPath, OwnPath, SeenEntry, ToolContext, ToolRun } from '@holdfast/core/ports'
import { isSameState, ok } from '@holdfast/protocol'
import { createWorkspaceFiles } from '../files/workspace-files.ts'
import { type CommittedFile, entryOf, listCommitted, readCommitted } from './committed-files.ts'
import { readStatus } from './read-status.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'

/** Files that git sees as changed before a command are read, up to this size together. */
const capturedBytesMax = 32 * 1024 * 1024
const capturedMax = 2000

export type TouchedDeps = GitDeps & { readonly ownPaths?: readonly OwnPath[] | undefined }

/** A file that was not read: it is too large, or belongs to Holdfast. Its stamp tells whether it has changed. */
type Unread = { readonly stamp: string }

/** What was there before a command. */
export type Captured = {
  readonly head: string | null
  /** The files that differ from the last commit. */
  readonly files: ReadonlyMap<string, SeenEntry | Unread>
  /** What git ignores: files, and directories that end with '/'. */
  readonly ignored: readonly string[]
  /** The stamps of files that differ and have names that are not UTF-8. */
  readonly unreadable: ReadonlyMap<string, string>
}

/** Reads what is there before a command. Null if that cannot be found out, or is too much. */
export async function capture(
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
export const bytePath = (workdir: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${workdir}/`), Buffer.from(name, 'latin1')])

/** Changes whenever a file is written, replaced or removed. */
export async function stampOf(path: string | Buffer): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  return stats === null ? '' : [stats.dev, stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}

/** What was at a path before a command. */
type Before =
  | { readonly type: 'known'; readonly entry: SeenEntry }
  /** What is there now: nothing has changed. */
  | { readonly type: 'as now' }
  /** It was not read before the command. */
  | { readonly type: 'unknown' }

/** What was at a path before a command, if other calls may have changed it while the command ran. */
export type BeforeAmongCalls =
  | Before
  /** Others have changed it besides the command, and what it was before is not known. */
  | { readonly type: 'mixed' }
  /** The command has not changed it. */
  | { readonly type: 'of another call' }

export const beforeOf = (captured: SeenEntry | Unread): Before =>
  'stamp' in captured ? { type: 'unknown' } : { type: 'known', entry: captured }

/**
 * Returns what was at a path before a command, though other calls changed it while the command ran: their changes are a part
 * of what is recorded for the command then. What only they changed is theirs.
 */
export function withCalls(
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

/**
 * Reads what was at paths that git saw as unchanged before the command: what the commit has, if any. `listed` is what the
 * status said about them.
 */
export async function readCommittedBefore(
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
