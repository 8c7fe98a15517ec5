import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { findGitPaths } from './git-paths.ts'

/** Finds the paths in a folder with these files; a name that ends with `/` is a folder. */
async function find(files: Readonly<Record<string, string>>, folder = '.') {
  const { workdir } = await openWorkdir()
  for (const [name, content] of Object.entries(files)) {
    const path = join(workdir, name)
    await mkdir(name.endsWith('/') ? path : join(path, '..'), { recursive: true })
    if (!name.endsWith('/')) await writeFile(path, content.replaceAll('WORKDIR', workdir))
  }
  return findIn(workdir, folder)
}

async function findIn(workdir: string, folder = '.') {
  const relative = (path: string) => path.replace(`${workdir}/`, '')
  const { readOnly, keptEmpty, absent, outside } = await findGitPaths(join(workdir, folder))
  return {
    readOnly: readOnly.map(relative).toSorted(),
    keptEmpty: keptEmpty.map(relative),
    absent: absent.map(({ path, content }) => [relative(path), content]),
    outside: outside && {
      directory: relative(outside.directory),
      writable: outside.writable.map(relative),
      readOnly: outside.readOnly.map(relative),
    },
  }
}

const hooksIn = (path: string) => `[core]\n\thooksPath = ${path}\n`
const nothing = { readOnly: [], keptEmpty: [], absent: [], outside: null }
const commondir = ['.git/commondir', '.\n']

describe('the paths that git reads', () => {
  it.each([{}, { '.git/': '' }])('are the name of a repository where there is none: %j', async (files) =>
    expect(await find(files)).toEqual({ ...nothing, absent: [['.git', null]] }),
  )

  it('are the hooks, the settings and the shared folder of a repository, also if they do not exist', async () => {
    expect(await find({ '.git/HEAD': '', '.git/config': '', '.git/hooks/': '' })).toEqual({
      ...nothing,
      readOnly: ['.git/config', '.git/hooks'],
      absent: [commondir],
    })
    expect(await find({ '.git/HEAD': '', '.git/config': '[extensions]\n\tworktreeConfig = true\n' })).toEqual({
      ...nothing,
      readOnly: ['.git/config'],
      keptEmpty: ['.git/hooks'],
      absent: [commondir, ['.git/config.worktree', '']],
    })
  })

  it('are the hooks and files that the settings name, inside the working directory', async () => {
    const config =
      '[core]\n\thooksPath = .husky\n[include]\n\tpath = ../more\n\tpath = "../absent"\n\tpath = ../../outside\n\tpath = ..\n'
    expect(await find({ '.git/config': config, '.git/hooks/': '', '.husky/': '', more: '' })).toEqual({
      ...nothing,
      readOnly: ['.git/config', '.git/hooks', '.husky', 'more'],
      absent: [['absent', ''], commondir],
    })
    expect((await find({ '.git/config': '[core]\nhookspath=.husky' })).absent).toEqual([['.husky', null], commondir])
  })

  it('are those of repositories up to two folders down, and of submodules', async () => {
    const found = await find({
      '.git/HEAD': '',
      '.git/modules/': '',
      'a/.git': 'gitdir: ../.git/modules/a\n',
      'a/b/.git/config': '',
      'a/b/c/.git/config': '',
      'node_modules/x/.git/config': '',
    })
    expect(found.readOnly).toEqual(['.git/modules', 'a/.git', 'a/b/.git/config'])
    expect(found.keptEmpty).toEqual(['.git/hooks', 'a/b/.git/hooks'])
  })

  it.each([
    ['of the work tree around the working directory', { 'work/tools/': '', '.git/config': hooksIn('work/tools') }],
    [
      'of the repository of a linked work tree',
      {
        'work/tools/': '',
        'work/.git': 'gitdir: ../main/.git/worktrees/work\n',
        'main/.git/config': hooksIn('tools'),
        'main/.git/worktrees/work/commondir': '../..\n',
      },
    ],
    ['of its own work tree alone', { 'work/tools/': '', 'work/.git/config.worktree': hooksIn('tools') }],
    [
      'of a file that an included one includes',
      {
        'work/tools/': '',
        'work/.git/config': '[include]\n\tpath = ../../one\n',
        one: '[include]\n\tpath = work/two\n',
        'work/two': hooksIn('tools'),
      },
    ],
  ])('are the hooks that settings name: %s', async (_, files) =>
    expect((await find(files, 'work')).readOnly).toContain('work/tools'),
  )

  it('are all files of settings that include each other, also those that do not exist', async () => {
    const config = '[include]\n\tpath = ../one\n'
    const found = await find({ '.git/config': config, one: '[include]\n\tpath = two\n', '.git/hooks/': '' })
    expect(found).toMatchObject({ readOnly: ['.git/config', '.git/hooks', 'one'], absent: [['two', ''], commondir] })
  })

  it('are in a separate folder of git too, also if it does not exist', async () => {
    const found = await find({ '.git': 'gitdir: data/git\n', 'data/git/config': hooksIn('tools'), 'tools/': '' })
    expect(found.readOnly).toEqual(['.git', 'data/git/config', 'tools'])
    expect(found).toMatchObject({ keptEmpty: ['data/git/hooks'], absent: [['data/git/commondir', '.\n']] })
    expect(await find({ '.git': 'gitdir: later\n' })).toMatchObject({ readOnly: ['.git'], absent: [['later', null]] })
  })

  it('are the links and settings of the work trees that belong to a repository', async () => {
    const found = await find({
      '.git/config': '[extensions]\n\tworktreeConfig = true\n',
      '.git/hooks/': '',
      '.git/commondir': '.\n',
      '.git/config.worktree': '',
      '.git/worktrees/one/gitdir': '/x/.git\n',
      '.git/worktrees/one/commondir': '../..\n',
    })
    expect(found.readOnly.slice(-2)).toEqual(['.git/worktrees/one/commondir', '.git/worktrees/one/gitdir'])
    expect(found.absent).toEqual([['.git/worktrees/one/config.worktree', '']])
  })

  it('are where a link leads, if that is in the working directory', async () => {
    const { workdir, beside } = await openWorkdir()
    await mkdir(join(workdir, 'data'))
    await writeFile(join(workdir, 'data/config'), '')
    await symlink('data', join(workdir, '.git'))
    expect((await findIn(workdir)).readOnly).toEqual(['data/config'])
    await rm(join(workdir, '.git'))
    await symlink(beside, join(workdir, '.git'))
    expect(await findIn(workdir)).toEqual(nothing)
  })
})

describe('the data of a linked worktree', () => {
  const worktree = {
    'linked/.git': 'gitdir: ../main/.git/worktrees/linked\n',
    'main/.git/config': '',
    'main/.git/objects/': '',
    'main/.git/refs/': '',
    'main/.git/worktrees/linked/commondir': '../..\n',
    'main/.git/worktrees/linked/gitdir': 'WORKDIR/linked/.git\n',
  }
  const own = 'main/.git/worktrees/linked'

  it('can be written except for the links between them', async () => {
    const found = await find(worktree, 'linked')
    expect(found).toMatchObject({ readOnly: ['linked/.git'], absent: [] })
    expect(found.outside).toEqual({
      directory: 'main/.git',
      writable: ['main/.git/objects', 'main/.git/refs', own],
      readOnly: [`${own}/gitdir`, `${own}/commondir`],
    })
  })

  it.each([
    ['names another worktree', { [`${own}/gitdir`]: 'WORKDIR/other/.git\n' }],
    ['reads settings that a command could write', { 'main/.git/config': '[extensions]\nworktreeConfig = true' }],
    ['is the working directory', { 'linked/.git': 'gitdir: .\n' }],
  ])('is not opened if the repository %s', async (_, changed) =>
    expect((await find({ ...worktree, ...changed }, 'linked')).outside).toBeNull(),
  )
})
