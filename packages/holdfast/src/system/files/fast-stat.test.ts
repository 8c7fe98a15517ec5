import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFastStat } from './fast-stat.ts'

const [ext4, nfs] = [0xef53, 0x6969]

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-look-'))
  await writeFile(join(folder, 'there.md'), 'text')
})
afterEach(() => rm(folder, { recursive: true }))

/** Returns whether a promise settles in this slice. */
async function isImmediate(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => process.nextTick(resolve, 'later'))
  return (await Promise.race([promise.then(() => 'settled'), later])) === 'settled'
}

describe('a look at a path', () => {
  it.each([
    ['a local disk', ext4],
    ['a network drive', nfs],
  ])('finds what is there on %s', async (_, type) => {
    const { findStats, findLinkStats, learnAbout } = createFastStat(async () => type)
    await symlink('nowhere', join(folder, 'link'))
    await learnAbout(join(folder, 'there.md'))
    expect((await findStats(join(folder, 'there.md')))?.size).toBe(4)
    expect(await findStats(join(folder, 'missing.md'))).toBe(null)
    expect(await findStats(join(folder, 'there.md/below'))).toBe(null)
    expect(await findStats(join(folder, 'link'))).toBe(null)
    expect((await findLinkStats(join(folder, 'link')))?.isSymbolicLink()).toBe(true)
    expect(await findLinkStats(join(folder, 'missing'))).toBe(null)
  })

  it('is answered at once on a local disk, when that is known', async () => {
    const { findStats, findLinkStats, learnAbout } = createFastStat(async () => ext4)
    const path = join(folder, 'there.md')
    expect(await isImmediate(findStats(path))).toBe(false)
    await learnAbout(path)
    expect(await isImmediate(findStats(path))).toBe(true)
    expect(await isImmediate(findLinkStats(path))).toBe(true)
  })

  it('never blocks the thread on a network drive', async () => {
    const { findStats, findLinkStats, learnAbout } = createFastStat(async () => nfs)
    const path = join(folder, 'there.md')
    await learnAbout(path)
    expect(await isImmediate(findStats(path))).toBe(false)
    expect(await isImmediate(findLinkStats(path))).toBe(false)
  })

  it('takes a missing folder for a part of the disk above it', async () => {
    const typeOf = async (path: string) => (path === folder ? ext4 : null)
    const { findStats, learnAbout } = createFastStat(typeOf)
    expect(await learnAbout(join(folder, 'missing/deep/file'))).toBe(true)
    expect(await isImmediate(findStats(join(folder, 'missing/deep/file')))).toBe(true)
  })

  it('tells drives below a local folder apart', async () => {
    await mkdir(join(folder, 'drive'))
    const { learnAbout } = createFastStat(async (path) => (path === folder ? ext4 : nfs))
    expect(await learnAbout(join(folder, 'file'))).toBe(true)
    expect(await learnAbout(join(folder, 'drive/file'))).toBe(false)
  })
})
