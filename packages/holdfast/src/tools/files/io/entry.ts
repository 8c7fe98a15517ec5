import { readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { type BlobHash, escapeLine, limits, ok, type Preview, type Result } from '@holdfast/protocol'
import { type OpenDirectory, openLeaf } from '../../../system/files/open-file.ts'
import { decodeText } from '../../edits/decode-text.ts'
import { unifiedDiff } from '../../edits/unified-diff.ts'
import { keepBefore, tooLong } from './before-image.ts'
import { hashHandle, hashLink, readSmall } from './file-content.ts'
import { findEntry, openParent, type Place } from './workspace-file.ts'

/** What is at a name now. */
type Found = { readonly contentHash: BlobHash } & (
  | { readonly type: 'link'; readonly target: string }
  /** `bytes` is null if the file is too long. */
  | { readonly type: 'file'; readonly bytes: Buffer | null; readonly mode: number; readonly size: number }
)

/** Reads a file or a link of an open directory. */
export async function readEntry(parent: OpenDirectory, name: string, shown: string): Promise<Result<Found>> {
  const target = await readlink(parent.at(name)).catch(() => null)
  if (target !== null) return ok({ type: 'link', target, contentHash: hashLink(shown, target) })
  const opened = await openLeaf(parent, name, shown)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  const { mode, size } = opened.value.stats
  const bytes = await readSmall(handle)
  return ok({ type: 'file', bytes, mode, size, contentHash: await hashHandle(handle, shown, bytes) })
}

/** Stores what is at a name, so that it can be put back. */
export async function toBefore(found: Found, blobs: Parameters<typeof keepBefore>[2]) {
  if (found.type === 'link') return { type: 'link', target: found.target } as const
  if (found.bytes === null) return { type: 'not_kept', why: tooLong(found.size) } as const
  return keepBefore(found.bytes, found.mode, blobs)
}

/** Returns what would be deleted, as a diff. */
export async function diffDelete(
  place: Place,
  path: string,
  beforeWork?: () => Promise<void>,
): Promise<Result<EntryPreview>> {
  const found = await findEntry(place, path)
  if (!found.ok) return found
  const { alwaysAsk, path: target } = found.value
  const opened = await openParent(target)
  if (!opened.ok) return opened
  await using parent = opened.value
  const entry = await readEntry(parent, basename(target.absolute), target.shown)
  if (!entry.ok) return entry
  await beforeWork?.() // many calls are prepared at once
  const { contentHash } = entry.value
  const preview = { type: 'diff', path: target.shown, diff: await describeDelete(entry.value, target.shown) } as const
  return ok({ preview, contentHash, ...(alwaysAsk !== null && { alwaysAsk }) })
}

type EntryPreview = {
  readonly preview: Extract<Preview, { type: 'diff' }>
  readonly contentHash: BlobHash
  readonly alwaysAsk?: string
}

async function describeDelete(found: Found, shown: string): Promise<string> {
  if (found.type === 'link')
    return `Deletes the link ${escapeLine(shown)} -> ${escapeLine(found.target)}, not its target.\n`
  const decoded = found.bytes && found.bytes.length <= limits.previewWholeBytesMax && (await decodeText(found.bytes))
  if (decoded) return unifiedDiff({ path: shown, before: decoded.text, after: null })
  const kept = found.bytes === null ? ' It is too long to be kept: this cannot be undone.' : ''
  return `Deletes ${escapeLine(shown)} (${found.size} bytes, not shown).${kept}\n`
}
