import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobHash, SessionId } from '@holdfast/protocol'
import { createBlobPaths } from '../../store/blobs/blob-paths.ts'
import {
  error,
  type Finding,
  info,
  listNames,
  lstatIfThere,
  modeFindings,
  unfinishedFile,
} from '../../store/finding.ts'
import { systemErrorCode } from '../../system/system-error.ts'

/** Verifies every blob that records refer to, and counts unused blobs. */
export async function checkBlobs(
  blobsDir: string,
  used: ReadonlyMap<BlobHash, SessionId>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const paths = createBlobPaths(blobsDir)
  for (const [hash, session] of used) {
    const found = (await hashFile(paths.blob(hash))) ?? (await hashFile(paths.aside(hash)))
    if (found === hash) continue
    const what =
      found === null
        ? 'a blob that this session refers to is missing'
        : 'the content of the blob does not match its hash'
    const code = found === null ? 'missing_blob' : 'damaged_blob'
    findings.push(error({ code, subject: `${session} ${hash}`, what }))
  }
  const unused = await countUnused(blobsDir, used)
  if (unused.count > 0) {
    const what = `blobs that no session uses: ${unused.count} (${unused.bytes} bytes)`
    findings.push(info({ code: 'unused_blobs', subject: blobsDir, what }))
  }
  return findings
}

async function hashFile(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array) // a stream of bytes
    return hash.digest('hex')
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

async function countUnused(blobsDir: string, used: ReadonlyMap<string, unknown>) {
  let [count, bytes] = [0, 0]
  for (const prefix of await listNames(blobsDir)) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    for (const name of await listNames(join(blobsDir, prefix))) {
      if (used.has(`${prefix}${name}`) || !/^[0-9a-f]{62}$/.test(name)) continue
      const stats = await lstatIfThere(join(blobsDir, prefix, name))
      if (stats === null) continue // removed in the meantime
      count += 1
      bytes += stats.size
    }
  }
  return { count, bytes }
}

/** Finds blobs that others may read, and blobs that were never finished. */
export async function checkBlobFiles(directory: string): Promise<readonly Finding[]> {
  if (!existsSync(directory)) return []
  const findings: Finding[] = [...(await modeFindings(directory))]
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.name.startsWith('new-')) findings.push(unfinishedFile(path))
    else findings.push(...(await modeFindings(path)))
  }
  return findings
}
