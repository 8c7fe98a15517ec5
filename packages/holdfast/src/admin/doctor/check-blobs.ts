import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobHash, SessionId } from '@holdfast/protocol'
import { createBlobPaths } from '../../store/blobs/blob-paths.ts'
import { error, type Finding, info } from '../../store/finding.ts'
import { systemErrorCode } from '../../system/system-error.ts'

/** Reads every blob that records name, and counts those that none does. */
export async function checkBlobs(
  blobsDir: string,
  used: ReadonlyMap<BlobHash, SessionId>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const paths = createBlobPaths(blobsDir)
  for (const [hash, session] of used) {
    const found = (await hashOf(paths.blob(hash))) ?? (await hashOf(paths.aside(hash)))
    if (found === hash) continue
    const what =
      found === null ? 'a file that this session refers to is not there' : 'the file is not what its name says'
    const code = found === null ? 'missing_blob' : 'damaged_blob'
    findings.push(error({ code, place: `${session} ${hash}`, what }))
  }
  const unused = await unusedIn(blobsDir, used)
  if (unused.count > 0) {
    const what = `${unused.count} files of ${unused.bytes} bytes are referred to by no session`
    findings.push(info({ code: 'unused_blobs', place: blobsDir, what }))
  }
  return findings
}

async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array) // a stream of bytes
    return hash.digest('hex')
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

async function unusedIn(blobsDir: string, used: ReadonlyMap<string, unknown>) {
  let [count, bytes] = [0, 0]
  for (const shelf of await namesIn(blobsDir)) {
    if (!/^[0-9a-f]{2}$/.test(shelf)) continue
    for (const name of await namesIn(join(blobsDir, shelf))) {
      if (used.has(`${shelf}${name}`) || !/^[0-9a-f]{62}$/.test(name)) continue
      const size = await sizeOf(join(blobsDir, shelf, name))
      if (size === null) continue // collected meanwhile
      count += 1
      bytes += size
    }
  }
  return { count, bytes }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return []
    throw cause
  }
}
