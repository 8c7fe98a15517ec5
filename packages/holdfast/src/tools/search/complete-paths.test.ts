import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createCompletePaths } from './complete-paths.ts'
import { rankPath } from './rank-path.ts'

const files = [
  'src/index.ts',
  'src/deep/index.ts',
  'src/deep/other.ts',
  'docs/source.md',
  'secret/key.txt',
  'build/out.js',
  '.github/ci.yml',
  '.holdfast/hooks.json',
  'home/holdfast/token',
]

async function openTree() {
  const { workdir, beside } = await openWorkdir()
  for (const path of files) {
    await mkdir(dirname(join(workdir, path)), { recursive: true })
    await writeFile(join(workdir, path), '')
  }
  await writeFile(join(workdir, '.gitignore'), 'build/\n')
  await writeFile(join(beside, 'outside-index.ts'), '')
  await symlink(beside, join(workdir, 'linked'))
  const complete = createCompletePaths({
    environment: process.env,
    ownPaths: [join(workdir, 'home/holdfast')],
    readRules: { deniedTest: async () => ok((path) => path === 'secret' || path.startsWith('secret/')) },
  })
  const inWorkdir = async (text: string, limit = 50) => {
    const found = await complete.inWorkdir({ workdir }, { text, limit, signal: notAborted })
    return found.ok ? found.value : found.fault.code
  }
  const pathsOf = async (text: string, limit?: number) => {
    const found = await inWorkdir(text, limit)
    return typeof found === 'string' ? found : found.paths.map(({ path }) => path)
  }
  return { workdir, complete, inWorkdir, pathsOf }
}

describe('completing a path of a workdir', () => {
  it('returns files and folders, the best first', async () => {
    const { pathsOf, inWorkdir } = await openTree()
    expect(await pathsOf('src/')).toEqual([
      'src/',
      'src/deep/',
      'src/index.ts',
      'src/deep/index.ts',
      'src/deep/other.ts',
    ])
    expect(await pathsOf('INDEX')).toEqual(['src/index.ts', 'src/deep/index.ts'])
    expect(await pathsOf('sdoth')).toEqual(['src/deep/other.ts'])
    expect(await inWorkdir('sour')).toEqual({ paths: [{ path: 'docs/source.md', type: 'file' }], isCut: false })
    expect(await inWorkdir('src/', 2)).toEqual({
      paths: [
        { path: 'src/', type: 'folder' },
        { path: 'src/deep/', type: 'folder' },
      ],
      isCut: true,
    })
  })

  it('leaves out what is ignored, hidden, denied, linked, or belongs to Holdfast', async () => {
    const { pathsOf } = await openTree()
    const all = await pathsOf('', 200)
    expect(all).toEqual(expect.arrayContaining(['src/index.ts', 'docs/']))
    expect(JSON.stringify(all)).not.toMatch(/build|secret|linked|outside|holdfast|github/)
    expect(await pathsOf('.git')).toEqual(['.github/', '.gitignore', '.github/ci.yml'])
    expect(await pathsOf('.holdfast/')).toEqual([])
    expect(await pathsOf('../')).toEqual([])
  })

  it('refuses a folder that is gone', async () => {
    const { complete } = await openTree()
    const gone = await complete.inWorkdir({ workdir: '/nowhere/at/all' }, { text: '', limit: 5, signal: notAborted })
    expect(gone.ok).toBe(false)
  })
})

describe('completing a folder', () => {
  it('returns the folders that begin with what was typed, without links, hidden, denied and own ones', async () => {
    const { workdir, complete } = await openTree()
    const pathsOf = async (text: string) => {
      const found = await complete.folders({ text: `${workdir}/${text}`, limit: 10 })
      return found.ok ? found.value.paths.map(({ path }) => path.slice(workdir.length + 1)) : found.fault.code
    }
    expect(await pathsOf('')).toEqual(['src/', 'docs/', 'home/', 'build/'])
    expect(await pathsOf('sr')).toEqual(['src/'])
    expect(await pathsOf('.git')).toEqual(['.github/'])
    expect(await pathsOf('home/')).toEqual([])
    expect(await pathsOf('none/')).toBe('bad_workdir')
    expect(await pathsOf('src/index.ts/')).toBe('bad_workdir')
  })
})

it('ranks a path by where it fits', () => {
  const typed = (path: string) => rankPath(path, 'ind')
  expect(['index.ts', 'src/index.ts', 'src/behind.ts', 'wind/a.ts', 'i/n/d', 'other'].map(typed)).toEqual([
    ...[0, 1, 2, 3, 4, null],
  ])
})

it('refuses a folder with a NUL character', async () => {
  const { complete } = await openTree()
  for (const text of ['/tmp/\0/', '/tmp/a\0', '\0'])
    expect(await complete.folders({ text, limit: 5 })).toMatchObject({ ok: false, fault: { code: 'bad_workdir' } })
})
