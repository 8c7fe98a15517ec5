import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir, readTree } from '../../../../testkit/src/contracts/tool.ts'
import { editFileTool } from '../files/edit-file.ts'
import { listDirectoryTool } from '../files/list-directory.ts'
import { readFileTool } from '../files/read-file.ts'
import { writeFileTool } from '../files/write-file.ts'

const uses = [
  { tool: readFileTool, args: {} },
  { tool: listDirectoryTool, args: {} },
  { tool: writeFileTool, args: { content: 'evil' } },
  { tool: editFileTool, args: { old_text: 'secret', new_text: 'evil' } },
] as const

/** A workdir `work` with a secret beside it and every kind of link that leads there. */
async function openHostileWorkdir() {
  const { workdir, beside } = await openWorkdir()
  await writeFile(join(beside, 'secret.txt'), 'secret')
  await mkdir(join(beside, 'work-evil'))
  await writeFile(join(beside, 'work-evil', 'secret.txt'), 'secret')
  await mkdir(join(workdir, 'sub'))
  await symlink('../secret.txt', join(workdir, 'file-link'))
  await symlink(beside, join(workdir, 'directory-link'))
  await symlink('sub/chain-2', join(workdir, 'chain-1'))
  await symlink('../chain-3', join(workdir, 'sub/chain-2'))
  await symlink('../secret.txt', join(workdir, 'chain-3'))
  await symlink('../not-yet.txt', join(workdir, 'dangling'))
  await symlink('../../no/such/directory', join(workdir, 'sub/dangling-directory'))
  await symlink('loop-b', join(workdir, 'loop-a'))
  await symlink('loop-a', join(workdir, 'loop-b'))
  await symlink('/proc/self/root', join(workdir, 'root-link'))
  return { workdir, beside }
}

const escapes = [
  '../secret.txt',
  'sub/../../secret.txt',
  './/sub/./..//../secret.txt',
  '../work-evil/secret.txt',
  '../not-there.txt',
  '../not-there/../work/not-there.txt',
  'file-link',
  'directory-link/secret.txt',
  'directory-link/not-there/deep.txt',
  'directory-link',
  'chain-1',
  'dangling',
  'sub/dangling-directory/x',
  'loop-a',
  'loop-a/x',
  'root-link/etc/passwd',
  '/etc/passwd',
  '/etc/no-such-file',
  '/',
  '..',
]

describe('confinement to the workdir', () => {
  it.each(escapes)('refuses %s in every file tool and changes nothing', async (path) => {
    const { workdir, beside } = await openHostileWorkdir()
    const before = await readTree(beside)
    for (const { tool, args } of uses) {
      if (path.endsWith('/') && tool !== listDirectoryTool) continue // not a file's name to begin with
      const prepared = await tool.prepare({ ...args, path }, { workdir }, notAborted)
      expect(prepared).toEqual({ type: 'unusable', message: expect.stringMatching(/^outside_workdir: /) })
      const ran = await tool.run({ ...args, path }, { workdir }, createToolRun().run)
      expect(ran).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(/^outside_workdir: /) } })
    }
    expect(await readTree(beside)).toEqual(before)
  })

  it('refuses a sibling whose name starts with the name of the workdir', async () => {
    const { workdir } = await openHostileWorkdir()
    const path = `${workdir}-evil/secret.txt`
    expect(await readFileTool.prepare({ path }, { workdir }, notAborted)).toMatchObject({
      message: expect.stringMatching(/^outside_workdir: /),
    })
  })

  it('accepts every path that ends inside: absolute, with .., by links, through a linked workdir', async () => {
    const { workdir, beside } = await openHostileWorkdir()
    await writeFile(join(workdir, 'sub', 'in.txt'), 'inside')
    await symlink('sub', join(workdir, 'inner-link'))
    await symlink(workdir, join(beside, 'workdir-link'))
    const ways = [
      [workdir, `${workdir}/sub/in.txt`],
      [workdir, 'sub/../sub/in.txt'],
      [workdir, '../work/sub/in.txt'],
      [workdir, 'inner-link/in.txt'],
      [join(beside, 'workdir-link'), 'sub/in.txt'],
      [join(beside, 'workdir-link'), join(beside, 'workdir-link/sub/in.txt')],
      ['/', join(workdir, 'sub/in.txt')],
    ] as const
    for (const [from, path] of ways)
      expect(await readFileTool.run({ path }, { workdir: from }, createToolRun().run)).toEqual({
        type: 'ok',
        output: { text: 'inside' },
      })
  })

  it('writes through a link that stays inside, and reports the target', async () => {
    const { workdir } = await openHostileWorkdir()
    await symlink('sub/target.txt', join(workdir, 'inner-link'))
    const ran = await writeFileTool.run({ path: 'inner-link', content: 'x' }, { workdir }, createToolRun().run)
    expect(ran).toMatchObject({ type: 'ok', files: [{ path: 'sub/target.txt', change: 'created' }] })
    const tree = await readTree(workdir)
    expect(tree.get('inner-link')).toMatch(/-> sub\/target\.txt$/)
    expect(tree.get('sub/target.txt')).toMatch(/ x$/)
  })

  it('refuses pipes, devices and directories as files without blocking', async () => {
    const { workdir } = await openHostileWorkdir()
    await promisify(execFile)('mkfifo', [join(workdir, 'pipe')])
    const places = [
      [workdir, 'pipe', /not a regular file/],
      [workdir, 'sub', /is a directory/],
      ['/dev', 'zero', /not a regular file/],
      ['/dev', 'tty', /not a regular file/],
    ] as const
    for (const [from, path, words] of places)
      for (const { tool, args } of uses) {
        if (tool === listDirectoryTool) continue
        const prepared = await tool.prepare({ ...args, path }, { workdir: from }, notAborted)
        expect(prepared).toEqual({ type: 'unusable', message: expect.stringMatching(words) })
        const ran = await tool.run({ ...args, path }, { workdir: from }, createToolRun().run)
        expect(ran).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(words) } })
      }
    expect(await listDirectoryTool.prepare({ path: 'pipe' }, { workdir }, notAborted)).toMatchObject({
      message: expect.stringContaining('not a directory'),
    })
  })

  it.each([
    '.holdfast/hooks.json',
    '.holdfast',
    '.HoldFast/config.json',
    '.hold\u200bfast/config.json',
    'sub/.holdfast/skills/x/SKILL.md',
    'own-link/hooks.json',
  ])('never writes to %j, whether or not it exists', async (path) => {
    const { workdir } = await openHostileWorkdir()
    for (const isThere of [false, true]) {
      if (isThere) {
        await mkdir(join(workdir, '.holdfast'))
        await writeFile(join(workdir, '.holdfast', 'hooks.json'), 'secret')
      } else await symlink('.holdfast', join(workdir, 'own-link'))
      const before = await readTree(workdir)
      for (const { tool, args } of uses.slice(2)) {
        const prepared = await tool.prepare({ ...args, path }, { workdir }, notAborted)
        expect(prepared).toEqual({ type: 'unusable', message: expect.stringContaining('belongs to Holdfast') })
        expect(await tool.run({ ...args, path }, { workdir }, createToolRun().run)).toMatchObject({ type: 'failed' })
      }
      expect(await readTree(workdir)).toEqual(before)
    }
  })
})
