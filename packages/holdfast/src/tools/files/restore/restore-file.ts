import { randomUUID } from 'node:crypto'
import { open, symlink, unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { RestoreOutcome, RestoreRun, ToolBlobs, WantedFile } from '@holdfast/core/ports'
import { type BeforeImage, FileState, fault, ok, type Result, refuse, withoutSetId } from '@holdfast/protocol'
import type { OpenDirectory } from '../../../system/files/open-file.ts'
import { foreseen } from '../../define/define-tool.ts'
import { readEntry } from '../io/entry.ts'
import { oneByOneAt } from '../io/path-queue.ts'
import { removeEntry } from '../io/remove-entry.ts'
import { moveHere, replaceFile } from '../io/replace-file.ts'
import { openParent } from '../io/workspace-file.ts'
import { type Current, changedSince, checkRestore, type OwnPlace, refused } from './check-restore.ts'
import { removeFolder } from './make-room.ts'

/** Puts a file back as `wanted` says, if it is as the session left it. What was there is stored first. */
export async function restoreFile(place: OwnPlace, wanted: WantedFile, run: RestoreRun): Promise<RestoreOutcome> {
  const restored = await tryRestore(place, wanted, run).catch(foreseen)
  if (restored.ok) return restored.value
  return refused(restored.fault.code === 'content_changed' ? changedSince : restored.fault.message)
}

async function tryRestore(place: OwnPlace, wanted: WantedFile, run: RestoreRun): Promise<Result<RestoreOutcome>> {
  const checked = await checkRestore(place, wanted)
  if (checked.type !== 'ready') return ok(checked)
  const { workdir, ownPaths } = place
  const { path, target } = wanted
  const { state, contentHash } = checked.current
  const blobs: ToolBlobs = { put: run.put, open: () => Promise.reject(new Error('a restore reads no output')) }
  if (checked.isFolder) {
    const removed = await removeFolder(checked.path)
    if (!removed.ok) return removed
  }
  const how = { signal: run.signal, blobs, expected: contentHash }
  if (target.type === 'absent') {
    const removed = await removeEntry({ workdir, ownPaths }, path, how)
    return removed.ok ? restoredFrom(removed.value.before) : removed
  }
  const bytes = target.type === 'file' ? await run.read(target.hash) : null
  if (target.type === 'file' && bytes === null) return ok(refused('its kept content is gone'))
  if (target.type === 'file' && bytes !== null && state.type !== 'link') {
    const replaced = await replaceFile({ workdir, ownPaths }, path, [bytes], {
      ...how,
      mode: withoutSetId(target.mode),
    })
    return replaced.ok ? restoredFrom(replaced.value.change.before) : replaced
  }
  if (state.type === 'file' && checked.current.bytes) await run.put(checked.current.bytes)
  const { absolute } = checked.path
  return oneByOneAt(absolute, async () => {
    const opened = await openParent(checked.path)
    if (!opened.ok) return opened
    await using parent = opened.value
    return await putEntry(parent, { name: basename(absolute), shown: path, target, bytes, current: checked.current })
  })
}

/** Returns the outcome with what was there. Content that could not be kept is a bug: it was checked before. */
function restoredFrom(before: BeforeImage | undefined): Result<RestoreOutcome> {
  return ok({ type: 'restored', before: FileState.parse(before) })
}

type Entry = {
  readonly name: string
  readonly shown: string
  readonly target: FileState
  readonly bytes: Uint8Array | null
  readonly current: Current
}

/** Puts a link in place of an entry, or a file in place of a link. */
async function putEntry(
  parent: OpenDirectory,
  { name, shown, target, bytes, current }: Entry,
): Promise<Result<RestoreOutcome>> {
  const temporary = parent.at(`.${randomUUID()}.tmp`)
  let isMoved = false
  try {
    if (target.type === 'link') await symlink(target.target, temporary)
    else if (target.type === 'file' && bytes) {
      await using handle = await open(temporary, 'wx', 0o600)
      await handle.writeFile(bytes)
      await handle.chmod(withoutSetId(target.mode))
      await handle.sync()
    }
    const isNew = current.state.type === 'absent'
    const now = isNew ? null : await readEntry(parent, name, shown)
    if (now && (!now.ok || now.value.contentHash !== current.contentHash)) return refuse(changed)
    isMoved = await moveHere(temporary, parent.at(name), isNew)
    if (!isMoved) return refuse(changed)
    await parent.sync()
    return ok({ type: 'restored', before: current.state })
  } finally {
    if (!isMoved) await unlink(temporary).catch(() => undefined) // the first failure is the one to report
  }
}

const changed = fault('content_changed', changedSince)
