import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createToolRun, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { listDirectoryTool } from './list-directory.ts'

const list = async (workdir: string, path = '.') =>
  (await listDirectoryTool.run({ path }, { workdir }, createToolRun().run)).output.text

describe('list_directory', () => {
  it('lists sorted names with a mark for each kind', async () => {
    const { workdir } = await openWorkdir()
    await mkdir(join(workdir, 'src'))
    await writeFile(join(workdir, 'b.txt'), '')
    await writeFile(join(workdir, '.hidden'), '')
    await symlink('/etc/passwd', join(workdir, 'link'))
    expect(await list(workdir)).toBe('.hidden\nb.txt\nlink -> /etc/passwd\nsrc/')
  })

  it('escapes line feeds and invisible characters in names', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'two\nlines'), '')
    await writeFile(join(workdir, 'e\u001b[2J'), '')
    await writeFile(join(workdir, '-rf'), '')
    expect(await list(workdir)).toBe('-rf\ne\\u{1b}[2J\ntwo\\nlines')
  })

  it('says when a directory is empty, does not exist, or is a file', async () => {
    const { workdir } = await openWorkdir()
    await mkdir(join(workdir, 'empty'))
    await writeFile(join(workdir, 'file'), '')
    expect(await list(workdir, 'empty/')).toBe('[empty/ is empty]')
    expect(await list(workdir, 'none')).toBe('not_found: none does not exist')
    expect(await list(workdir, 'file')).toBe('bad_request: file is not a directory')
  })

  it('reports how many entries of a huge directory are not listed', async () => {
    const { workdir } = await openWorkdir()
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(workdir, `f${index}`), '')))
    const lines = (await list(workdir)).split('\n')
    expect(lines).toHaveLength(501)
    expect(lines.at(-1)).toBe('[100 more are not listed]')
    const names = Array.from({ length: 600 }, (_, index) => `f${index}`).sort()
    expect(lines.slice(0, -1)).toEqual(names.slice(0, 500)) // the first ones, in whatever order the disk has them
  })
})
