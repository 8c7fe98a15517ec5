import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import type { SubjectLocation } from '../subject/subject.ts'

const scratch = useScratch({ inMemory: true })
const program = join(import.meta.dirname, '..', 'child-writer.ts')

/** Returns everything in the directory that other users can read or write. */
function open({ directory }: SubjectLocation): readonly string[] {
  const names = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
  return names.filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0)
}

it.each(['sqlite', 'jsonl', 'blobs'] as const)('D25 %s: creates only private files with umask 000', async (kind) => {
  const location = scratch.location(kind)
  const task = JSON.stringify({ location, logs: 2, appends: 3 })
  await promisify(execFile)('sh', ['-c', 'umask 000; exec "$0" "$@"', process.execPath, program, task])
  expect(readdirSync(location.directory).length).toBeGreaterThan(0)
  expect(open(location)).toEqual([])
})

it.each(['inline', 'jsonl'] as const)('D25 %s: makes existing files private when it opens', async (kind) => {
  const location = scratch.location(kind)
  const head = (await fill(location, 1, 3)).at(-1) ?? 0
  chmodSync(location.directory, 0o755)
  for (const name of readdirSync(location.directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(location.directory, name)
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644)
  }
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
  expect(verdict.violations).toEqual([])
  expect(open(location)).toEqual([])
})
