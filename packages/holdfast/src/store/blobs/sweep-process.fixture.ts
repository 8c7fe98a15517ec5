import { writeSync } from 'node:fs'
import type { BlobHash } from '@holdfast/protocol'
import { openFileBlobs } from './file-blobs.ts'

// Sets all blobs aside and restores them in a loop, in its own process, so that a test can kill it.
const opened = await openFileBlobs(process.argv[2] ?? '')
if (!opened.ok) throw new Error(opened.fault.message)
const graceMs = 1000
let now = Number(process.argv[3])
for (;;) {
  now += 2 * graceMs
  const unused = await opened.value.sweep(async () => new Set<BlobHash>(), { now, graceMs })
  now += 2 * graceMs
  await opened.value.sweep(async (hashes) => new Set(hashes), { now, graceMs })
  writeSync(1, `set aside ${unused.setAside}, removed ${unused.removed}\n`)
}
