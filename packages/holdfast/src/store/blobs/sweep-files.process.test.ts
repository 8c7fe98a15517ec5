import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { orThrow } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openFileBlobs } from './file-blobs.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-sweep-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const fixture = fileURLToPath(new URL('./sweep-process.fixture.ts', import.meta.url))
const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`)
/** Each process starts later than every time the one before it has set. */
const aYearMs = 365 * 24 * 60 * 60 * 1000
/** Set KILLS=1000 for a long run. */
const rounds = Number(process.env['KILLS'] ?? 3)

/** Kills a sweeping process after so many lines of output, at an arbitrary point. */
async function killSweepAfter(lines: number, from: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [fixture, directory, String(from)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (said.length === lines) child.kill('SIGKILL')
  }
  await ended
  return said
}

it('a sweep that is killed at any point loses no blob that is used afterwards', async () => {
  const dice = createDice(7)
  const hashes = []
  const before = orThrow(await openFileBlobs(directory))
  for (const text of texts) hashes.push(orThrow(await before.put([Buffer.from(text)])).hash)
  for (let round = 0; round < rounds; round++) {
    const said = await killSweepAfter(1 + dice.below(5), Date.now() + round * aYearMs)
    expect(said.every((line) => line.endsWith('removed 0'))).toBe(true)
    expect(said).toContain('set aside 40, removed 0')
    const blobs = orThrow(await openFileBlobs(directory))
    const read = await Promise.all(
      hashes.map(async (hash) => Buffer.concat(await Array.fromAsync((await blobs.open(hash)) ?? [])).toString()),
    )
    expect(read).toEqual(texts)
  }
})
