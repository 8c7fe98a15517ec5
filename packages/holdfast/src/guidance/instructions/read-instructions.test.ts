import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findWorkspaceRoot } from '../../system/files/workspace-root.ts'
import { findImports } from './find-imports.ts'
import { readInstructions } from './read-instructions.ts'

let base: string
const at = (...names: string[]) => join(base, ...names)
const write = async (path: string, text: string) => {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), text)
}
let denied: readonly string[] = []
const readAll = async (...folders: string[]) =>
  readInstructions({
    mayRead: async (path) => !denied.includes(path),
    workdir: at('repo/app'),
    workspace: await findWorkspaceRoot(at('repo/app'), at('home')),
    folders,
    configDir: at('home/.config/holdfast'),
    userDir: at('home'),
  })
const textsOf = async (...folders: string[]) => (await readAll(...folders)).map(({ text }) => text)

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-instructions-')))
  await mkdir(at('repo/.git'), { recursive: true })
  await mkdir(at('repo/app/src/inner'), { recursive: true })
})
afterEach(() => {
  denied = []
  return rm(base, { recursive: true })
})

describe('instructions', () => {
  it('come from the user, the root of the repository, the workdir and the folders of files in play, in this order', async () => {
    await write('home/.config/holdfast/AGENTS.md', 'user')
    await write('outside/AGENTS.md', 'outside')
    for (const folder of ['repo', 'repo/app', 'repo/app/src', 'repo/app/src/inner', 'repo/app/other', 'repo/beside'])
      await write(`${folder}/AGENTS.md`, folder)
    expect(await textsOf()).toEqual(['user', 'repo', 'repo/app'])
    expect(await textsOf('src/inner', '../beside')).toEqual([
      ...['user', 'repo', 'repo/app', 'repo/app/src', 'repo/app/src/inner'],
    ])
  })

  it('are read from CLAUDE.md only where there is no AGENTS.md', async () => {
    await write('home/.claude/CLAUDE.md', 'user of another program')
    await write('repo/CLAUDE.md', 'root')
    await write('repo/app/AGENTS.md', 'workdir')
    await write('repo/app/CLAUDE.md', 'left out')
    await write('repo/app/src/.claude/CLAUDE.md', 'src')
    expect(await textsOf('src')).toEqual(['user of another program', 'root', 'workdir', 'src'])
  })

  it('import files of the workspace, each once and four deep', async () => {
    await write('repo/app/AGENTS.md', 'See @docs/a.md and @docs/a.md, and @docs/missing.md, @team.\n\n@../rules.md')
    await write('repo/app/docs/a.md', 'a @b.md @../AGENTS.md')
    await write('repo/app/docs/b.md', 'b @c.md')
    await write('repo/app/docs/c.md', 'c @d.md')
    await write('repo/app/docs/d.md', 'd @e.md')
    await write('repo/app/docs/e.md', 'too deep')
    await write('repo/rules.md', 'rules')
    expect((await textsOf()).slice(1)).toEqual(['a @b.md @../AGENTS.md', 'b @c.md', 'c @d.md', 'd @e.md', 'rules'])
  })

  it('import nothing from outside the workspace, by a path or a link', async () => {
    await write('secret.md', 'secret')
    await symlink(at('secret.md'), at('repo/app/link.md'))
    await symlink(at('secret.md'), at('repo/CLAUDE.md'))
    await write('repo/app/AGENTS.md', `@../../secret.md @${at('secret.md')} @link.md @~/.ssh/id`)
    expect(await textsOf()).toHaveLength(1)
  })

  it('of the user import from the home directory', async () => {
    await write('home/.config/holdfast/AGENTS.md', '@~/notes.md')
    await write('home/notes.md', 'notes')
    expect(await textsOf()).toEqual(['@~/notes.md', 'notes'])
  })

  it('never come from a dependency whose files are in play', async () => {
    for (const folder of ['node_modules/lib', 'src', 'src/node_modules/lib/inner'])
      await write(`repo/app/${folder}/AGENTS.md`, folder)
    expect(await textsOf('node_modules/lib', 'src/node_modules/lib/inner', 'src')).toEqual(['src'])
  })

  it('are left out if a rule denies them, with what they import; the own file of the user is not', async () => {
    await write('home/.config/holdfast/AGENTS.md', '@~/notes.md @~/more.md')
    for (const name of ['notes', 'more']) await write(`home/${name}.md`, name)
    await write('repo/AGENTS.md', '@docs/a.md')
    await write('repo/docs/a.md', 'a')
    await write('repo/app/AGENTS.md', '@b.md @c.md')
    for (const name of ['b', 'c']) await write(`repo/app/${name}.md`, name)
    denied = ['home/.config/holdfast/AGENTS.md', 'home/notes.md', 'repo/AGENTS.md', 'repo/app/b.md'].map((path) =>
      at(path),
    )
    expect(await textsOf()).toEqual(['@~/notes.md @~/more.md', 'more', '@b.md @c.md', 'c'])
    expect((await readAll()).map(({ path, importedBy }) => [path, importedBy]).slice(2)).toEqual([
      ['AGENTS.md', undefined],
      ['c.md', 'AGENTS.md'],
    ])
  })

  it('that are links to each other are read once', async () => {
    await write('repo/AGENTS.md', 'shared')
    await symlink(at('repo/AGENTS.md'), at('repo/app/AGENTS.md'))
    expect(await textsOf()).toEqual(['shared'])
  })

  it('are cut at a line, and the cut file says so', async () => {
    await write('repo/AGENTS.md', `${'x'.repeat(99)}\n`.repeat(500))
    await write('repo/app/AGENTS.md', `${'y'.repeat(99)}\n`.repeat(500))
    await write('repo/app/src/AGENTS.md', 'no room')
    const files = await readAll('src')
    expect(files.map(({ path, isCut }) => [path, isCut])).toEqual([
      ['../AGENTS.md', false],
      ['AGENTS.md', true],
    ])
    expect(files.at(-1)?.text.endsWith('y'.repeat(99))).toBe(true)
    expect(Buffer.byteLength(files.map(({ text }) => text).join(''))).toBeLessThanOrEqual(64 * 1024)
  })

  it('have no comments that stand alone', async () => {
    await write('repo/app/AGENTS.md', '<!-- for people\nonly -->\nUse tabs. <!-- kept -->')
    expect(await textsOf()).toEqual(['Use tabs. <!-- kept -->'])
  })
})

describe('imports', () => {
  it.each([
    ['@a.md and (@b.md)', ['a.md']],
    ['see @a.md.', ['a.md.', 'a.md']],
    ['mail a@b.c, `@code.md`, ``@x` @y``', []],
    ['```\n@in.md\n```\n@out.md', ['out.md']],
    ['~~~~\n@in.md\n~~~\n@still.md\n~~~~\n@out.md', ['out.md']],
  ])('of %j are %j', (text, expected) => {
    expect(findImports(text)).toEqual(expected)
  })

  it('of a workspace are texts for people, not keys, settings or what git and Holdfast keep', async () => {
    await write('repo/app/AGENTS.md', '@.env @.git/config @.holdfast/MEMORY.md @keys.json @notes.md @link.md')
    for (const path of ['.env', '.git/config', '.holdfast/MEMORY.md', 'keys.json', 'notes.md'])
      await write(`repo/app/${path}`, `text of ${path}`)
    await symlink(at('repo/app/keys.json'), at('repo/app/link.md'))
    expect((await textsOf()).slice(1)).toEqual(['text of notes.md'])
  })

  it('of a hostile text are few, and found in linear time', () => {
    expect(findImports(Array.from({ length: 20_000 }, (_, index) => `@${index}`).join(' '))).toHaveLength(200)
    expect(findImports(`@${'.'.repeat(64_000)}x`)).toEqual([]) // no path is as long
    expect(findImports(`@a${'.'.repeat(4000)}`)).toContain('a')
  })
})
