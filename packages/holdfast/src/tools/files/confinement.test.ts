import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Tool, ToolArgs } from '@holdfast/core/ports'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir, readTree } from '../../../../testkit/src/contracts/tool.ts'
import { applyDiffTool } from './apply-diff.ts'
import { deleteFileTool } from './delete-file.ts'
import { editFileTool } from './edit-file.ts'
import { listDirectoryTool } from './list-directory.ts'
import { moveFileTool } from './move-file.ts'
import { multiEditFileTool } from './multi-edit-file.ts'
import { readFileTool } from './read-file.ts'
import { createWorkspaceFiles } from './workspace-files.ts'
import { writeFileTool } from './write-file.ts'

const uses: readonly { readonly tool: Tool; readonly args: ToolArgs }[] = [
  { tool: readFileTool, args: {} },
  { tool: listDirectoryTool, args: {} },
  { tool: writeFileTool, args: { content: 'evil' } },
  { tool: editFileTool, args: { old_text: 'secret', new_text: 'evil' } },
  { tool: multiEditFileTool, args: { edits: [{ old_text: 'secret', new_text: 'evil' }] } },
  { tool: applyDiffTool, args: { diff: '-secret\n+evil' } },
]

/** They change the entry itself, so a link at the end of a path is theirs to remove. */
const entryUses: typeof uses = [
  { tool: deleteFileTool, args: {} },
  { tool: moveFileTool, args: { new_path: 'moved' } },
]

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
      expect(await readFileTool.run({ path }, { workdir: from }, createToolRun().run)).toMatchObject({
        type: 'ok',
        output: { text: '1\tinside\n[no line feed at the end of the file]' },
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
      for (const { tool, args } of [...uses.slice(2), ...entryUses]) {
        const prepared = await tool.prepare({ ...args, path }, { workdir }, notAborted)
        expect(prepared).toEqual({ type: 'unusable', message: expect.stringContaining('belongs to Holdfast') })
        expect(await tool.run({ ...args, path }, { workdir }, createToolRun().run)).toMatchObject({ type: 'failed' })
      }
      expect(await readTree(workdir)).toEqual(before)
    }
  })

  it.each(escapes.filter((path) => !/^(file-link|directory-link|chain-1|dangling|loop-a|\.\.|\/)$/.test(path)))(
    'refuses to delete or move %s, or to move a file there',
    async (path) => {
      const { workdir, beside } = await openHostileWorkdir()
      await writeFile(join(workdir, 'own.txt'), 'own')
      const before = await readTree(beside)
      const calls = [...entryUses.map(({ tool, args }) => [tool, { ...args, path }] as const)]
      for (const [tool, args] of [...calls, [moveFileTool, { path: 'own.txt', new_path: path }] as const])
        expect(await tool.run(args, { workdir }, createToolRun().run)).toMatchObject({
          type: 'failed',
          output: { text: expect.stringMatching(/^outside_workdir: /) },
        })
      expect(await readTree(beside)).toEqual(before)
    },
  )

  it.each([
    ...[
      '.git/config',
      '.GIT/hooks/pre-commit',
      'sub/.git',
      '.g\u200bit/config',
      '.husky/pre-push',
      '.claude/settings.json',
    ],
    ...[
      '.agents/x',
      '.vscode/tasks.json',
      '.github/workflows/ci.yml',
      '.mcp.json',
      'sub/.envrc',
      '.bashrc',
      '.gitlab-ci.yml',
      'git-link/config',
    ],
    ...'.travis.yml Jenkinsfile azure-pipelines.yml .drone.yml .buildkite/a.yml lefthook.yaml .mise.toml'.split(' '),
    ...'.gitea/workflows/a.yml .forgejo/workflows/a.yml .github/actions/a/b.yml .cargo/config.toml'.split(' '),
  ])('asks each time before a change of %j, by every tool', async (path) => {
    const { workdir } = await openHostileWorkdir()
    await symlink('.git', join(workdir, 'git-link'))
    await mkdir(join(workdir, '.git'))
    await mkdir(dirname(join(workdir, path)), { recursive: true })
    await writeFile(join(workdir, path), 'secret\n').catch(() => undefined) // `sub/.git` may be there
    for (const { tool, args } of [...uses.slice(2), ...entryUses])
      expect(await tool.prepare({ ...args, path }, { workdir }, notAborted)).toMatchObject({
        type: 'ready',
        alwaysAsk: expect.stringContaining('decides what other programs run'),
      })
  })

  it('asks each time about folders of git with another name, and about what would make one', async () => {
    const { workdir } = await openHostileWorkdir()
    const reasonOf = async (path: string) => {
      const prepared = await writeFileTool.prepare({ path, content: 'x\n' }, { workdir }, notAborted)
      return prepared.type === 'ready' ? prepared.alwaysAsk : prepared
    }
    await mkdir(join(workdir, '.bare/objects'), { recursive: true })
    await mkdir(join(workdir, '.bare/refs'))
    for (const path of ['.bare/config', '.bare/hooks/post-checkout'])
      expect(await reasonOf(path)).toContain('is in a folder of git')
    for (const path of ['emb/HEAD', 'emb/config', 'emb/objects/info/x']) expect(await reasonOf(path)).toBeUndefined()
    await mkdir(join(workdir, 'emb/objects'), { recursive: true })
    expect(await reasonOf('emb/refs/heads/x')).toContain('is in a folder of git')
    await mkdir(join(workdir, 'docs/refs'), { recursive: true })
    expect(await reasonOf('docs/refs/list.md')).toBeUndefined()
  })

  it('asks each time about the hooks and settings that the configuration of the repository names', async () => {
    const { workdir } = await openHostileWorkdir()
    await mkdir(join(workdir, '.git'))
    await mkdir(join(workdir, 'tools/git'), { recursive: true })
    await symlink('tools/git', join(workdir, 'linked'))
    const reasonOf = async (path: string) => {
      const prepared = await writeFileTool.prepare({ path, content: 'x\n' }, { workdir }, notAborted)
      return prepared.type === 'ready' ? prepared.alwaysAsk : prepared
    }
    expect(await reasonOf('tools/git/pre-commit')).toBeUndefined()
    const config = '[core]\n\thooksPath = linked\n[include]\n\tpath = "../more.ini"\n'
    await writeFile(join(workdir, '.git/config'), config)
    for (const path of ['tools/git/pre-commit', 'linked/deep/x', 'more.ini'])
      expect(await reasonOf(path)).toContain('is named by .git/config')
    expect(await reasonOf('tools/gitx')).toBeUndefined()
    await writeFile(join(workdir, 'own.txt'), 'own')
    const move = { path: 'own.txt', new_path: 'linked/pre-push' }
    expect(await moveFileTool.prepare(move, { workdir }, notAborted)).toHaveProperty('alwaysAsk')
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['of the work tree above the session', { '../.git/config': '[core]\n\thooksPath = work/tools/git\n' }],
    [
      'that further settings name, also in turns',
      {
        '.git/config': '[include]\n\tpath = ../one.ini\n',
        'one.ini': '[include]\n\tpath = two.ini\n',
        'two.ini': '[include]\n\tpath = one.ini\n[core]\n\thooksPath = tools/git\n',
      },
    ],
    ['of config.worktree', { '.git/config.worktree': '[core]\n\thooksPath = tools/git\n' }],
    [
      'of a linked work tree',
      {
        '.git': 'gitdir: ../main/.git/worktrees/one\n',
        '../main/.git/worktrees/one/commondir': '../..\n',
        '../main/.git/config': '[core]\n\thooksPath = tools/git\n',
      },
    ],
    ['of a repository in the workdir', { 'tools/.git/config': '[core]\n\thooksPath = git\n' }],
    ['that watches files', { '.git/config': '[core]\n\tfsmonitor = sh tools/git/pre-commit --fast\n' }],
  ])('asks each time about hooks %s', async (_, files) => {
    const { workdir } = await openWorkdir()
    for (const [path, content] of Object.entries({ 'tools/git/pre-commit': 'x\n', 'tools/other': 'x\n', ...files })) {
      await mkdir(dirname(join(workdir, path)), { recursive: true })
      await writeFile(join(workdir, path), content)
    }
    const reasonOf = async (path: string) => {
      const prepared = await deleteFileTool.prepare({ path }, { workdir }, notAborted)
      return prepared.type === 'ready' ? prepared.alwaysAsk : prepared
    }
    expect(await reasonOf('tools/git/pre-commit')).toContain('is named by .git/config')
    expect(await reasonOf('tools/other')).toBeUndefined()
  })

  it('asks each time before a file is moved to where it would be run', async () => {
    const { workdir } = await openHostileWorkdir()
    await writeFile(join(workdir, 'own.txt'), 'own')
    const args = { path: 'own.txt', new_path: '.git/hooks/pre-commit' }
    expect(await moveFileTool.prepare(args, { workdir }, notAborted)).toHaveProperty('alwaysAsk')
  })

  it.each(['package.json', '.gitignore', 'git/config', 'src/.github.ts'])(
    'does not ask each time about %j',
    async (path) => {
      const { workdir } = await openHostileWorkdir()
      const prepared = await writeFileTool.prepare({ path, content: 'x\n' }, { workdir }, notAborted)
      expect(prepared).toMatchObject({ type: 'ready' })
      expect(prepared).not.toHaveProperty('alwaysAsk')
    },
  )

  it('neither reads nor changes the folders of Holdfast, also through a link', async () => {
    const { workdir } = await openHostileWorkdir()
    await mkdir(join(workdir, 'config'))
    await writeFile(join(workdir, 'config', 'token'), 'secret')
    await symlink('config', join(workdir, 'config-link'))
    const context = { workdir, ownPaths: [join(workdir, 'config-link')] }
    for (const { tool, args } of [...uses, ...entryUses])
      for (const folder of ['config', 'config-link']) {
        const path = tool === listDirectoryTool ? folder : `${folder}/token`
        expect(await tool.prepare({ ...args, path }, context, notAborted)).toMatchObject({
          message: expect.stringMatching(/^outside_workdir: /),
        })
      }
  })

  it('leads nowhere outside while a directory is swapped for a link all the time', async () => {
    const { workdir, beside } = await openHostileWorkdir()
    const secrets = join(beside, 'secrets')
    await mkdir(secrets)
    await writeFile(join(secrets, 'f'), 'secret')
    await mkdir(join(workdir, 'd'))
    await writeFile(join(workdir, 'd', 'f'), 'own')
    const swapper = new Worker(swapScript, { eval: true, workerData: { workdir, secrets } })
    await once(swapper, 'message')
    const results = { read: 0, written: 0, escaped: 0 }
    for (let round = 0; round < 40 || (results.read + results.written === 0 && round < 2000); round++) {
      const read = await readFileTool.run({ path: 'd/f' }, { workdir }, createToolRun().run).catch(() => null)
      if (read?.type === 'ok') results.read++
      if (read?.output.text.includes('secret')) results.escaped++
      const wrote = await writeFileTool
        .run({ path: 'd/f', content: `own ${round}` }, { workdir }, createToolRun().run)
        .catch(() => null)
      if (wrote?.type === 'ok') results.written++
    }
    await swapper.terminate()
    expect(await readTree(secrets)).toEqual(new Map([['f', expect.stringMatching(/ secret$/)]]))
    expect(results.escaped).toBe(0)
    expect(results.read + results.written).toBeGreaterThan(0)
  })
})

/** Swaps the directory `d` for a link to the secrets and back, as fast as it can. */
const swapScript = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
  const { parentPort, workerData: { workdir, secrets } } = require('node:worker_threads')
  parentPort.postMessage('ready')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let turn = 0; ; turn++) {
    if (turn % 4 === 0) Atomics.wait(pause, 0, 0, 5) // now and then the directory stays for a moment
    try { renameSync(workdir + '/d', workdir + '/d-away'); symlinkSync(secrets, workdir + '/d') } catch {}
    try { unlinkSync(workdir + '/d') } catch {}
    try { renameSync(workdir + '/d-away', workdir + '/d') } catch {}
  }
`

describe('the folder .holdfast', () => {
  const read = async (path: string) => {
    const { workdir } = await openWorkdir()
    for (const folder of ['skills/x', 'context']) await mkdir(join(workdir, '.holdfast', folder), { recursive: true })
    for (const name of ['hooks.json', 'MEMORY.md', 'skills/x/SKILL.md', 'context/note.md'])
      await writeFile(join(workdir, '.holdfast', name), 'inside')
    await symlink('.holdfast', join(workdir, 'own-link'))
    const { run } = createToolRun()
    const prepared = await readFileTool.prepare({ path }, { workdir }, notAborted)
    const isFile = (await readFileTool.run({ path }, { workdir }, run)).output.text.includes('inside')
    const lines = await createWorkspaceFiles([]).readLines(workdir, { path })
    const listed = await listDirectoryTool.run({ path: dirname(path) }, { workdir }, createToolRun().run)
    return { isReady: prepared.type === 'ready', isFile, isShown: lines.ok, isListed: listed.type === 'ok' }
  }
  const all = (is: boolean) => ({ isReady: is, isFile: is, isShown: is, isListed: is })

  it.each(['.holdfast/hooks.json', '.holdfast/MEMORY.md', './.holdfast//hooks.json'])(
    'is not read, listed or shown: %s',
    async (path) => expect(await read(path)).toEqual(all(false)),
  )

  it('is not read through a link', async () =>
    expect(await read('own-link/hooks.json')).toEqual({ ...all(false), isListed: false }))

  it.each(['.holdfast/skills/x/SKILL.md', '.holdfast/context/note.md'])(
    'lets skills and summaries be read: %s',
    async (path) => expect(await read(path)).toEqual(all(true)),
  )
})
