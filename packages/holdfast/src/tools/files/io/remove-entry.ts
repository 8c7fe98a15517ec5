import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ToolRun } from '@holdfast/core/ports'
import { type BlobHash, escapeLine, type FileChange, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { readEntry, toBefore } from './entry.ts'
import { oneByOneAt } from './path-queue.ts'
import { findEntry, openParent, type Place } from './workspace-file.ts'

type RemoveOptions = Pick<ToolRun, 'signal' | 'blobs'> & {
  /** The content that may be removed; any, if absent. */
  readonly expected?: BlobHash | undefined
}

/** Removes a file or link, and keeps what was there first. Refuses it if its content is another directly before that. */
export async function removeEntry(
  place: Place,
  path: string,
  { signal, blobs, expected }: RemoveOptions,
): Promise<Result<FileChange>> {
  const found = await findEntry(place, path)
  if (!found.ok) return found
  const { absolute, shown } = found.value.path
  return oneByOneAt(absolute, async () => {
    const opened = await openParent(found.value.path)
    if (!opened.ok) return opened
    await using parent = opened.value
    const name = basename(absolute)
    const entry = await readEntry(parent, name, shown)
    if (!entry.ok) return entry
    const before = await toBefore(entry.value, blobs)
    const now = await readEntry(parent, name, shown)
    if (!now.ok) return now
    if (now.value.contentHash !== (expected ?? entry.value.contentHash)) return refuse(changed(shown))
    if (signal.aborted) return refuse(fault('bad_request', 'aborted before anything was deleted'))
    await unlink(parent.at(name))
    await parent.sync()
    return ok({ path: shown, change: 'deleted', before })
  })
}

const changed = (shown: string) =>
  fault('content_changed', `${escapeLine(shown)} changed after this call was prepared; nothing was deleted.`)
