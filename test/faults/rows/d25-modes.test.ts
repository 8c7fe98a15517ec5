import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { judge } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import type { Place } from '../subject/subject.ts'

const scratch = useScratch({ inMemory: true })
const program = join(import.meta.dirname, '..', 'child-writer.ts')

/** Returns everything in the directory that other users can read or write. */
function open({ directory }: Place): readonly string[] {
  const names = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
  return names.filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0)
}

it.each(['sqlite', 'jsonl', 'blobs'] as const)('D25 %s: creates only private files with umask 000', async (kind) => {
  const place = scratch.place(kind)
  const task = JSON.stringify({ place, logs: 2, appends: 3 })
  await promisify(execFile)('sh', ['-c', 'umask 000; exec "$0" "$@"', process.execPath, program, task])
  expect(readdirSync(place.directory).length).toBeGreaterThan(0)
  expect(open(place)).toEqual([])
})

it.each(['inline', 'jsonl'] as const)('D25 %s: makes existing files private when it opens', async (kind) => {
  const place = scratch.place(kind)
  const head = (await fill(place, 1, 3)).at(-1) ?? 0
  chmodSync(place.directory, 0o755)
  for (const name of readdirSync(place.directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(place.directory, name)
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644)
  }
  const verdict = await judge({ place, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
  expect(verdict.violations).toEqual([])
  expect(open(place)).toEqual([])
})
