import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolvePath, resolveWorkdir } from './resolve-path.ts'

describe('a workdir', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-workdir-')))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is the real path, without links and trailing slash', async () => {
    const link = join(folder, 'link')
    await symlink(folder, link)
    expect(await resolveWorkdir(`${link}/`)).toEqual({ ok: true, value: folder })
  })

  it('is refused when it does not exist or is not a directory', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    for (const path of [join(folder, 'none'), file, join(file, 'below'), `${folder}/nul\0`]) {
      expect(await resolveWorkdir(path)).toMatchObject({
        ok: false,
        fault: { code: 'bad_workdir', details: { workdir: path } },
      })
    }
  })

  it('has paths of any number of folders that do not exist', async () => {
    const missing = Array<string>(200_000).fill('a')
    expect(await resolvePath(folder, missing.join('/'))).toMatchObject({ ok: true, value: { missing } })
  })
})
