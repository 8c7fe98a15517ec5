import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { openDirectory, openFile } from './open-file.ts'
import { resolvePath } from './resolve-path.ts'

/** Puts a link to a directory outside where a directory of the workdir was. */
async function swap(workdir: string, beside: string, name: string) {
  await mkdir(join(beside, 'outside', 'deep'), { recursive: true })
  await rename(join(workdir, name), join(workdir, `${name}-moved`))
  await symlink(join(beside, 'outside'), join(workdir, name))
}

describe('a directory swapped between check and use', () => {
  it('is refused when a component of its path became a link', async () => {
    const { workdir, beside } = await openWorkdir()
    await mkdir(join(workdir, 'a', 'deep'), { recursive: true })
    const place = await resolvePath(workdir, 'a/deep/file.txt')
    invariant(place.ok, 'resolves')
    await swap(workdir, beside, 'a')
    const opened = await openDirectory(place.value.root, dirname(place.value.absolute))
    expect(opened).toMatchObject({ ok: false, fault: { code: 'outside_workdir' } })
  })

  it('is refused when it became a link itself', async () => {
    const { workdir, beside } = await openWorkdir()
    await mkdir(join(workdir, 'a'))
    const place = await resolvePath(workdir, 'a/file.txt')
    invariant(place.ok, 'resolves')
    await swap(workdir, beside, 'a')
    const opened = openDirectory(place.value.root, dirname(place.value.absolute))
    await expect(opened.then(({ ok }) => ok)).resolves.toBe(false)
  })

  it.runIf(process.platform === 'linux')('keeps a write in the directory that was opened', async () => {
    const { workdir, beside } = await openWorkdir()
    await mkdir(join(workdir, 'a'))
    const opened = await openDirectory(workdir, join(workdir, 'a'))
    invariant(opened.ok, 'opens')
    await using directory = opened.value
    await swap(workdir, beside, 'a')
    await writeFile(directory.at('file.txt'), 'x')
    expect(await readdir(join(beside, 'outside'))).toEqual(['deep'])
    expect(await readdir(join(workdir, 'a-moved'))).toEqual(['file.txt'])
  })

  it('leaks no handle when it is refused', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'x'), '')
    const open = () => readdir('/proc/self/fd').catch(() => [])
    const before = (await open()).length
    for (let round = 0; round < 50; round++) {
      await openFile(workdir, 'nothing')
      await openFile(workdir, '.')
      await openDirectory(join(workdir, 'other'), workdir)
    }
    expect((await open()).length).toBeLessThan(before + 40)
  })
})
