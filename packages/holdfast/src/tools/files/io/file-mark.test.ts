import { mkdtemp, open, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type FileMark, isUntouched, markOf } from './file-mark.ts'

async function mark(): Promise<{ readonly path: string; readonly mark: FileMark }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mark-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'a.txt')
  await writeFile(path, 'one')
  await utimes(path, 1, 1) // whole seconds, which can be put back exactly
  await using handle = await open(path)
  const { stats, atMs } = await markOf(handle)
  return { path, mark: { stats, atMs: atMs + 1000 } } // as if it was read a second later
}

it('is the same file as long as nothing changes it', async () => {
  const { path, mark: marked } = await mark()
  expect(await isUntouched(path, marked)).toBe(true)
})

it('is another one after a change of the same length whose time was put back', async () => {
  const { path, mark: marked } = await mark()
  const change = async () => {
    await writeFile(path, 'two')
    await utimes(path, 1, 1)
    return isUntouched(path, marked)
  }
  await expect.poll(change, { interval: 1 }).toBe(false) // again until the clock of the file system ticks
})

it('is another one after another file took its name, or if it is gone', async () => {
  const { path, mark: marked } = await mark()
  await writeFile(`${path}.new`, 'one')
  await rename(`${path}.new`, path)
  expect(await isUntouched(path, marked)).toBe(false)
  await rm(path)
  expect(await isUntouched(path, marked)).toBe(false)
})

it('is not sure if the file was changed just before it was read', async () => {
  const { path, mark: marked } = await mark()
  expect(await isUntouched(path, { ...marked, atMs: Number(marked.stats.ctimeMs) + 5 })).toBe(false)
})
