import { createHash } from 'node:crypto'
import { lstat, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { ToolRun } from '@holdfast/core/ports'
import { BlobHash, type FileChange } from '@holdfast/protocol'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { keepBefore } from '../files/io/before-image.ts'
import { workspaceFiles } from '../files/workspace-files.ts'

/** What is at the path of an edit boundary. The path was resolved when the boundary was set. */
export type Content =
  | {
      readonly type: 'read'
      readonly hash: BlobHash
      readonly mode: number
      /** Null if they are those of the blob that the lines were counted in: a command may run for days. */
      readonly bytes: Buffer | null
    }
  /** The file is too large or cannot be read. Without marks there is none. */
  | { readonly type: 'unread'; readonly marks: string }
  /** The path, or a folder of it, is a link now: this is another file, or the same one by another path. */
  | {
      readonly type: 'linked'
      /** The path in the workdir that it leads to; null if that is outside. */
      readonly to: string | null
      /** The target of the path itself; null if only a folder is a link. */
      readonly target: string | null
      /** Identify what the link leads to. */
      readonly marks: string
    }

/** Reads what is at the path of a boundary. */
export async function readContent(workdir: string, path: string): Promise<Content> {
  const resolved = await resolvePath(workdir, path)
  const isOutside = !resolved.ok && resolved.fault.code === 'outside_workdir'
  const to = resolved.ok ? resolved.value.shown : null
  const isLinked = isOutside || (to !== null && to !== path)
  const found = isOutside ? null : await workspaceFiles.read(workdir, path)
  if (found?.ok) {
    const { buffer, byteOffset, byteLength } = found.value.bytes
    const bytes = Buffer.from(buffer, byteOffset, byteLength)
    const hash = await hashInTurns(bytes)
    if (!isLinked) return { type: 'read', bytes, hash, mode: found.value.mode }
    return { type: 'linked', to, target: await targetOf(workdir, path), marks: hash }
  }
  if (isLinked) return { type: 'linked', to, target: await targetOf(workdir, path), marks: '' }
  const stats = await lstat(join(workdir, path), { bigint: true }).catch(() => null)
  // The system sets `ctime` with each change; a missing file has no marks.
  return { type: 'unread', marks: stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : '' }
}

const targetOf = (workdir: string, path: string): Promise<string | null> =>
  readlink(join(workdir, path)).catch(() => null)

const pieceBytes = 1024 * 1024

/** Hashes bytes piece by piece, each in a slice of its own. */
async function hashInTurns(bytes: Buffer): Promise<BlobHash> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) await setImmediate()
    hash.update(bytes.subarray(at, at + pieceBytes))
  }
  return BlobHash.parse(hash.digest('hex'))
}

/** Returns a text that differs if the contents do. */
export function markOf(content: Content): string {
  if (content.type === 'read') return content.hash
  return content.type === 'unread' ? content.marks : JSON.stringify([content.to, content.target, content.marks])
}

/** Whether nothing changed. */
export const isSameContent = (one: Content, other: Content): boolean =>
  one.type === other.type && markOf(one) === markOf(other)

export const unreadWhy = 'it was too large or could not be read before the command'

/** Describes how a file changed. `bytes` are those before the command, if they are known. */
export async function fileChange(
  path: string,
  before: Content,
  bytes: Buffer | null,
  now: Content,
  blobs: ToolRun['blobs'],
): Promise<FileChange> {
  const after = leftNow(now)
  if (before.type === 'unread' && before.marks === '')
    return { path, change: 'created', before: { type: 'absent' }, ...after }
  const image = await beforeImage(before, bytes, blobs)
  const isGone = now.type === 'unread' && now.marks === ''
  return isGone ? { path, change: 'deleted', before: image } : { path, change: 'modified', before: image, ...after }
}

async function beforeImage(before: Content, bytes: Buffer | null, blobs: ToolRun['blobs']) {
  if (before.type === 'read' && bytes !== null) return keepBefore(bytes, before.mode, blobs)
  if (before.type === 'linked' && before.target !== null) return { type: 'link' as const, target: before.target }
  return { type: 'not_kept' as const, why: unreadWhy }
}

function leftNow(now: Content): Pick<FileChange, 'after' | 'mode' | 'link'> {
  if (now.type === 'read') return { after: now.hash, mode: now.mode }
  return now.type === 'linked' && now.target !== null ? { link: now.target } : {}
}
