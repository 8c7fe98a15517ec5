import { basename } from 'node:path'
import type { OwnPath, RestoreOutcome, RestorePlace, WantedFile } from '@holdfast/core/ports'
import { type BlobHash, type FileState, isSameState, ok, type Result } from '@holdfast/protocol'
import type { WorkspacePath } from '../../../system/files/resolve-path.ts'
import { hasKeys, holdsKey } from '../../../system/secrets/known-keys.ts'
import { hashBytes } from '../io/before-image.ts'
import { refuseAlias } from '../io/bounded-files.ts'
import { readEntry } from '../io/entry.ts'
import { hashContent } from '../io/file-content.ts'
import { findGuard } from '../io/guarded-path.ts'
import { openParent } from '../io/workspace-file.ts'
import { checkFolder, findCleared } from './make-room.ts'

/** What is at a path now, with its bytes if it is a file. */
export type Current = {
  readonly state: FileState
  readonly bytes: Buffer | null
  /** Identifies the content at this path, for the functions that change it. */
  readonly contentHash: BlobHash
}

type Ready = {
  readonly type: 'ready'
  readonly path: WorkspacePath
  readonly current: Current
  /** Whether a folder is at the path, which has to be removed first. */
  readonly isFolder: boolean
}
type NotReady = Exclude<RestoreOutcome, { readonly type: 'restored' }>

export type OwnPlace = RestorePlace & { readonly ownPaths?: readonly OwnPath[] | undefined }

/** Checks whether a file may be put back: only what the session left is replaced. Changes nothing. */
export async function checkRestore(place: OwnPlace, wanted: WantedFile): Promise<Ready | NotReady> {
  const { path, expected, target, isNamed = false, clears = [] } = wanted
  const { workdir, ownPaths, boundaries } = place
  // The entry itself is meant: a link is never followed.
  const found = await findCleared({ workdir, ownPaths }, path, clears)
  if (!found.ok) return refused(found.fault.message)
  if (found.value.shown !== path) return refused('a folder of its path is a link now')
  const guard = isNamed ? null : findGuard(path)
  if (guard !== null) return refused(`${guard}; name it in paths to put it back`)
  const isFolder = clears.length > 0 && found.value.stats?.isDirectory() === true
  const read = isFolder ? await readFolder(found.value, clears) : await readCurrent(found.value)
  if (!read.ok) return refused(read.fault.message)
  const { value: current } = read
  if (current === null) return refused(changedSince)
  if (isSameState(current.state, target)) return { type: 'unchanged' }
  if (!isSameState(current.state, expected)) return refused(changedSince)
  if (target.type !== 'file' && boundaries.some((one) => one.path === path))
    return refused('it has an edit boundary; clear the boundary to delete it')
  const alias = await refuseAlias(workdir, boundaries, found.value)
  if (!alias.ok) return refused(alias.fault.message)
  if (current.bytes && hasKeys() && holdsKey(current.bytes.toString('latin1')))
    return refused('it holds an API key, which is not kept for an undo')
  return { type: 'ready', path: found.value, current, isFolder }
}

export const refused = (why: string): Extract<RestoreOutcome, { type: 'refused' }> => ({ type: 'refused', why })

export const changedSince = 'changed by others since'

const nothingAt = (shown: string): Current => ({
  state: { type: 'absent' },
  bytes: null,
  contentHash: hashContent(shown, null),
})

/** Takes a folder for nothing, if it is empty once the paths in `clears` are removed. */
async function readFolder(path: WorkspacePath, clears: readonly string[]): Promise<Result<Current>> {
  const checked = await checkFolder(path, clears)
  return checked.ok ? ok(nothingAt(path.shown)) : checked
}

/** Reads what is at a path; null if it is too long to be one of ours. */
export async function readCurrent(path: WorkspacePath): Promise<Result<Current | null>> {
  const { absolute, shown, missing } = path
  if (missing.length > 0) return ok(nothingAt(shown))
  const opened = await openParent(path)
  if (!opened.ok) return opened
  await using parent = opened.value
  const entry = await readEntry(parent, basename(absolute), shown)
  if (!entry.ok) return entry
  const { contentHash } = entry.value
  if (entry.value.type === 'link')
    return ok({ state: { type: 'link', target: entry.value.target }, bytes: null, contentHash })
  const { bytes, mode } = entry.value
  return ok(bytes && { state: { type: 'file', hash: hashBytes(bytes), mode: mode & 0o7777 }, bytes, contentHash })
}
