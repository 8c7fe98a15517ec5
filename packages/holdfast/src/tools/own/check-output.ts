import type { ToolBlobs } from '@holdfast/core/ports'
import {
  BlobHash,
  explainIssue,
  type Fault,
  type FaultCode,
  FileChange,
  fault,
  HoldfastError,
  limits,
} from '@holdfast/protocol'
import { z } from 'zod'
import { resolvePath } from '../../system/files/resolve-path.ts'

/** The blobs of a call, with a memory of those that it stored. */
type CallBlobs = ToolBlobs & {
  /** Returns the size of a blob that the call stored or that the session has. Throws `blob_not_found`. */
  sizeOf(hash: BlobHash): Promise<number>
}

/** Wraps the blobs of a call: its result may name what it stored, or what its session has, and nothing of other sessions. */
export function createCallBlobs(blobs: ToolBlobs): CallBlobs {
  const sizes = new Map<BlobHash, number>()
  return {
    async put(bytes) {
      const stored = await blobs.put(bytes)
      sizes.set(stored.hash, stored.bytes)
      return stored
    },
    open: (hash) => blobs.open(hash),
    async sizeOf(hash) {
      const known = sizes.get(hash)
      if (known !== undefined) return known
      let bytes = 0
      for await (const chunk of await blobs.open(hash)) bytes += chunk.length
      sizes.set(hash, bytes)
      return bytes
    },
  }
}

type Returned = { readonly files?: unknown; readonly blob?: unknown; readonly media?: unknown }
export type CallPlace = { readonly tool: string; readonly workdir: string; readonly blobs: CallBlobs }

/** Checks the files, the blob and the media that an own tool names, before they are recorded. Throws a fault that says what is wrong. */
export async function checkOutput({ files, blob, media = [] }: Returned, place: CallPlace) {
  return {
    files: files === undefined ? undefined : await checkFiles(files, place),
    blob: blob === undefined ? undefined : await checkBlob(blob, place),
    media: checkMedia(media, place),
  }
}

const Media = z
  .array(z.strictObject({ bytes: z.instanceof(Uint8Array), name: z.string().max(200).optional() }))
  .max(limits.promptPartsMax)

function checkMedia(media: unknown, { tool }: CallPlace) {
  const parsed = Media.safeParse(media)
  if (parsed.success) return parsed.data
  throw new WrongOutput(tool, 'bad_request', `returned wrong media: ${explainIssue(parsed.error)}.`)
}

/** Thrown for an output that cannot be recorded. */
export class WrongOutput extends Error {
  override readonly name = 'WrongOutput'
  readonly fault: Fault

  constructor(tool: string, code: FaultCode, why: string) {
    super(why)
    this.fault = fault(code, `The tool ${tool} ran, but ${why}`)
  }
}

async function checkFiles(files: unknown, place: CallPlace): Promise<readonly FileChange[]> {
  if (Array.isArray(files) && files.length > limits.callFilesMax)
    throw new WrongOutput(
      place.tool,
      'too_large',
      `returned ${files.length} files. A call may name up to ${limits.callFilesMax}.`,
    )
  const parsed = FileChange.array().safeParse(files)
  if (!parsed.success)
    throw new WrongOutput(place.tool, 'bad_request', `returned wrong files: ${explainIssue(parsed.error)}.`)
  const changes: FileChange[] = []
  for (const change of parsed.data) changes.push(await checkChange(change, place))
  return changes
}

async function checkChange(change: FileChange, place: CallPlace): Promise<FileChange> {
  const { path, from, before } = change
  if (before?.type === 'file') await checkHash(before.hash, place)
  return {
    ...change,
    path: await pathInside(path, place),
    ...(from !== undefined && { from: await pathInside(from, place) }),
  }
}

/** Returns the path as the log shows it. A link is the file that is meant, not its target. */
async function pathInside(path: string, place: CallPlace): Promise<string> {
  if (path.length > limits.toolPathCharsMax || path.includes('\0'))
    throw new WrongOutput(place.tool, 'bad_request', `returned an invalid path (${path.length} characters).`)
  const found = await resolvePath(place.workdir, path, { followsLast: false })
  if (found.ok) return found.value.shown
  throw new WrongOutput(
    place.tool,
    found.fault.code,
    `returned a path that cannot be recorded: ${found.fault.message}.`,
  )
}

async function checkBlob(
  blob: unknown,
  place: CallPlace,
): Promise<{ readonly hash: BlobHash; readonly bytes: number }> {
  const given = typeof blob === 'object' && blob !== null && 'hash' in blob ? blob.hash : undefined
  const hash = BlobHash.safeParse(given)
  if (!hash.success)
    throw new WrongOutput(
      place.tool,
      'bad_request',
      'returned a blob without the hash of one. Return what blobs.put returned.',
    )
  return { hash: hash.data, bytes: await checkHash(hash.data, place) }
}

async function checkHash(hash: BlobHash, place: CallPlace): Promise<number> {
  try {
    return await place.blobs.sizeOf(hash)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'blob_not_found') throw error
    throw new WrongOutput(
      place.tool,
      'blob_not_found',
      `its session has no blob ${hash}. Store it with blobs.put first.`,
    )
  }
}
