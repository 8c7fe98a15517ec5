import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { isContentAt } from './file-content.ts'

/** More than is compared at once. */
const long = Buffer.alloc(2_500_000, 'some text ')

const changedAt = (at: number): Buffer => {
  const copy = Buffer.from(long)
  copy[at] = 0
  return copy
}

describe('isContentAt', () => {
  it.each([0, 1, long.length])('is true for the same %i bytes', async (size) => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), long.subarray(0, size))
    expect(await isContentAt(join(workdir, 'f'), long.subarray(0, size))).toBe(true)
  })

  it.each([
    ['the first byte', changedAt(0)],
    ['a byte in the middle', changedAt(1024 * 1024)],
    ['the last byte', changedAt(long.length - 1)],
    ['one byte less', long.subarray(1)],
    ['one byte more', Buffer.concat([long, Buffer.from('x')])],
    ['no byte', Buffer.alloc(0)],
  ])('is false where %s differs', async (_, found) => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), found)
    expect(await isContentAt(join(workdir, 'f'), long)).toBe(false)
  })

  it('is false for a missing file, a folder and a link', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one')
    await mkdir(join(workdir, 'folder'))
    await symlink('f', join(workdir, 'link'))
    for (const name of ['gone', 'folder', 'link'])
      expect(await isContentAt(join(workdir, name), Buffer.from('one'))).toBe(false)
  })
})
