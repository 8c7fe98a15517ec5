import { link, open, readdir, readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolBlobs } from '@holdfast/core/ports'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { hashBytes } from './before-image.ts'
import { hashContent } from './file-content.ts'
import { replaceFile } from './replace-file.ts'

const noBlob: ToolBlobs['open'] = () => Promise.reject(new Error('nothing is read'))

describe.each([
  ['small', 1000, false],
  ['small, with content that is known', 1000, true],
  ['large, written while its old content is kept', 2 * 1024 * 1024, false],
  ['large, with content that is known', 2 * 1024 * 1024, true],
])('a file that is %s', (_, bytes, isKnown) => {
  const [before, after] = [Buffer.alloc(bytes, 'a'), Buffer.alloc(bytes, 'b')]

  async function openFolder() {
    const { workdir } = await openWorkdir()
    const file = join(workdir, 'f')
    await writeFile(file, before)
    const expected = hashContent('f', before)
    const known = isKnown && { before: { bytes: before, hash: hashBytes(before) } }
    const replace = (put: ToolBlobs['put']) =>
      replaceFile({ workdir }, 'f', [after], { signal: notAborted, blobs: { put, open: noBlob }, expected, ...known })
    return { workdir, file, replace }
  }
  const hashOf = (stored: Uint8Array) => ({ hash: hashBytes(stored), bytes: stored.length })

  it('is replaced only once its old content is kept', async () => {
    const { workdir, file, replace } = await openFolder()
    let found: Buffer | null = null
    const replaced = await replace(async (stored) => {
      found = await readFile(file)
      return hashOf(stored)
    })
    expect(replaced).toMatchObject({ value: { change: { before: { hash: hashBytes(before) } } } })
    expect(before.equals(found ?? after)).toBe(true)
    expect(after.equals(await readFile(file))).toBe(true)
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it.runIf(process.platform === 'linux')('is synced before it has its name, and then its folder is', async () => {
    const { workdir, file, replace } = await openFolder()
    await using any = await open(file)
    const type = Object.getPrototypeOf(any)
    const synced: unknown[] = []
    const { sync } = type
    const spy = vi.spyOn(type, 'sync').mockImplementation(async function (this: typeof any) {
      const isFolder = (await this.stat()).isDirectory()
      const what = isFolder ? await readlink(`/proc/self/fd/${this.fd}`) : await readFile(`/proc/self/fd/${this.fd}`)
      synced.push([what, before.equals(await readFile(file))])
      return sync.call(this)
    })
    onTestFinished(() => spy.mockRestore())
    expect(await replace(async (stored) => hashOf(stored))).toMatchObject({ ok: true })
    expect(synced).toEqual([
      [after, true],
      [await realpath(workdir), false],
    ])
  })

  it('stays as it is if its old content cannot be kept', async () => {
    const { workdir, file, replace } = await openFolder()
    await expect(replace(() => Promise.reject(new Error('no space')))).rejects.toThrow('no space')
    expect(before.equals(await readFile(file))).toBe(true)
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it.each([
    ['of the same length', Buffer.alloc(bytes, 'c')],
    ['of another length', Buffer.from('mine')],
  ])('is not overwritten if it gets another content, %s, meanwhile', async (_length, mine) => {
    const { workdir, file, replace } = await openFolder()
    const replaced = await replace(async (stored) => {
      await writeFile(file, mine)
      return hashOf(stored)
    })
    expect(replaced).toMatchObject({ ok: false, fault: { code: 'content_changed' } })
    expect(mine.equals(await readFile(file))).toBe(true)
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it('is not overwritten if it got another content before', async () => {
    const { workdir, file, replace } = await openFolder()
    const mine = Buffer.alloc(bytes, 'c')
    await writeFile(file, mine)
    expect(await replace(async (stored) => hashOf(stored))).toMatchObject({ fault: { code: 'content_changed' } })
    expect(mine.equals(await readFile(file))).toBe(true)
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it('is written in place if it has two names, after its old content is kept', async () => {
    const { workdir, file, replace } = await openFolder()
    await link(file, join(workdir, 'g'))
    await expect(replace(() => Promise.reject(new Error('no space')))).rejects.toThrow('no space')
    expect(before.equals(await readFile(file))).toBe(true)
    expect(await replace(async (stored) => hashOf(stored))).toMatchObject({ ok: true })
    expect(after.equals(await readFile(join(workdir, 'g')))).toBe(true)
  })
})
