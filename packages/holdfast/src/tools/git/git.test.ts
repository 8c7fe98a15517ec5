import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ToolArgs } from '@holdfast/core/ports'
import { ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import type { ReadRules } from '../define/read-rules.ts'
import { createProcessRecords } from '../program/process-records.ts'
import { createGitCommit } from './commit.ts'
import { createGitDiff } from './diff.ts'
import { createGitLog } from './log.ts'
import { createGitStage } from './stage.ts'
import { createGitStatus } from './status.ts'

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_DIR: '/nonexistent', // must not be inherited
  SECRET_TOKEN: 'hush',
}
const { GIT_DIR: _, ...plain } = environment

async function openRepository(files: { readonly [path: string]: string } = { 'a.txt': 'one\n' }) {
  const { workdir, beside } = await openWorkdir()
  const git = async (...words: readonly string[]) =>
    (await promisify(execFile)('git', words, { cwd: workdir, env: plain })).stdout
  const write = async (path: string, content: string, mode = 0o644) => {
    await mkdir(dirname(join(workdir, path)), { recursive: true })
    await writeFile(join(workdir, path), content)
    await chmod(join(workdir, path), mode)
  }
  await git('init', '-q', '-b', 'main', '--template=')
  for (const [path, content] of Object.entries(files)) await write(path, content)
  await git('add', '.')
  await git('commit', '-qm', 'First')
  return { workdir, beside, git, write, ...createCalls(workdir) }
}

function createCalls(workdir: string) {
  const deps = { environment }
  const tools = {
    status: createGitStatus(deps),
    diff: createGitDiff(deps),
    log: createGitLog(deps),
    stage: createGitStage(deps),
    commit: createGitCommit(deps),
  }
  const prepare = (name: keyof typeof tools, args: ToolArgs = {}) => tools[name].prepare(args, { workdir }, notAborted)
  return {
    prepare,
    async run(name: keyof typeof tools, args: ToolArgs = {}, parts: Parameters<typeof createToolRun>[0] = {}) {
      const { output, type } = await tools[name].run(args, { workdir }, createToolRun(parts).run)
      return type === 'ok' ? output.text : `failed: ${output.text}`
    },
    async preview(name: keyof typeof tools, args: ToolArgs = {}) {
      const prepared = await prepare(name, args)
      if (prepared.type === 'unusable') return `unusable: ${prepared.message}`
      return prepared.preview.type === 'diff' ? prepared.preview.diff : JSON.stringify(prepared.preview)
    },
  }
}

describe('git_status', () => {
  it('lists staged, changed, renamed and untracked files with odd names', async () => {
    const { git, write, workdir, run } = await openRepository({
      'a.txt': 'one\n',
      'b.txt': 'two\n'.repeat(9),
      'c d.txt': '',
    })
    await write('a.txt', 'more\n')
    await git('mv', 'b.txt', 'sub b.txt')
    await write('new\nline.txt', '')
    await rm(join(workdir, 'c d.txt'))
    expect(await run('status')).toBe(
      'On branch main\nStaged:\n  renamed sub b.txt (from b.txt)\nNot staged:\n  modified a.txt\n  deleted c d.txt\nUntracked:\n  new\\nline.txt',
    )
  })

  it('says that nothing changed, and that there is no commit or no repository', async () => {
    const { run } = await openRepository()
    expect(await run('status')).toBe('On branch main\nNothing to commit, the working tree is clean.')
    const { workdir } = await openWorkdir()
    const none = createCalls(workdir)
    for (const name of ['status', 'diff', 'log'] as const)
      expect(await none.run(name)).toMatch(/^failed: not_found: .* is not in a git repository/)
    expect(await none.preview('stage', { paths: ['a'] })).toMatch(/^unusable: not_found/)
    await promisify(execFile)('git', ['init', '-q', '-b', 'main', '--template='], { cwd: workdir, env: plain })
    expect(await none.run('status')).toContain('On branch main, no commits yet')
    expect(await none.run('log')).toBe('The branch has no commits yet.')
  })
})

describe('git_diff and git_log', () => {
  it('show changes, staged or not, of the workdir and of one path', async () => {
    const { write, git, run } = await openRepository({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
    expect(await run('diff')).toBe('No changes that are not staged.')
    await write('a.txt', 'eins\n')
    await write('b.txt', 'zwei\n')
    expect(await run('diff', { path: 'a.txt' })).toMatch(/^diff --git a\/a.txt[\s\S]*-one\n\+eins\n$/)
    expect(await run('diff', { staged: true })).toBe('Nothing is staged.')
    await git('add', 'b.txt')
    expect(await run('diff', { staged: true })).toMatch(/-two\n\+zwei\n$/)
    expect(await run('diff', { path: '../x' })).toMatch(/^failed: outside_workdir/)
    expect(await run('diff', { path: ':(exclude)a.txt' })).toBe('No changes that are not staged.')
  })

  it('list commits, of one path if asked', async () => {
    const { git, write, run } = await openRepository()
    await write('b.txt', '')
    await git('add', '.')
    await git('commit', '-qm', 'Second: a "subject"\n\nbody')
    expect(await run('log')).toMatch(
      /^\w{7,} \d{4}-\d\d-\d\d Ada \(HEAD -> main\): Second: a "subject"\n\w{7,} .* Ada: First$/,
    )
    expect(await run('log', { path: 'a.txt' })).toMatch(/^\w+ \S+ Ada: First$/)
    expect(await run('log', { count: 1 })).not.toContain('First')
    expect(await run('log', { path: 'never.txt' })).toBe('No commits changed it.')
  })
})

describe('git_stage', () => {
  it('previews exactly what is staged, and stages it', async () => {
    const { write, git, workdir, preview, run } = await openRepository({ 'a.txt': 'one\n', 'gone.txt': 'x\n' })
    await write('a.txt', 'eins\n')
    await write('new.txt', 'new\n')
    await write('other.txt', 'other\n')
    await rm(join(workdir, 'gone.txt'))
    const paths = ['a.txt', 'new.txt', 'gone.txt']
    const diff = await preview('stage', { paths })
    for (const part of ['-one\n+eins\n', 'new file mode', '+new\n', 'deleted file mode']) expect(diff).toContain(part)
    expect(diff).not.toContain('other')
    expect(await git('diff', '--cached')).toBe('')
    expect(await run('stage', { paths })).toContain('staged a.txt, new.txt, gone.txt')
    expect(await git('diff', '--cached')).toBe(diff)
  })

  it('leaves out what a deny rule covers, and says so', async () => {
    const { write, git, workdir } = await openRepository({ 'a.txt': 'one\n', 'kept.key': 'old\n', 'gone.key': 'x\n' })
    await write('a.txt', 'eins\n')
    await write('.env', 'TOKEN=hush\n')
    await write('sub/new.txt', 'new\n')
    await write('kept.key', 'hush\n')
    await rm(join(workdir, 'gone.key'))
    const readRules: ReadRules = { deniedTest: async () => ok((path) => /(?:^|\/)\.env$|\.key$/.test(path)) }
    const stage = createGitStage({ environment, readRules })
    const prepared = await stage.prepare({ paths: ['.'] }, { workdir }, notAborted)
    if (prepared.type !== 'ready' || prepared.preview.type !== 'diff') throw new Error('it shows a diff')
    expect(prepared.preview.diff).toMatch(/\+new\n\n\[3 paths were left out by a deny rule\]$/)
    expect(prepared.preview.diff).not.toMatch(/hush|\.env|\.key/)
    const { contentHash } = prepared
    const staged = await stage.run({ paths: ['.'] }, { workdir }, createToolRun({ contentHash }).run)
    expect(staged).toMatchObject({ type: 'ok', output: { text: expect.stringContaining('3 paths were left out') } })
    expect((await git('diff', '--cached', '--name-only')).trim().split('\n')).toEqual(['a.txt', 'sub/new.txt'])
    const named = await stage.prepare({ paths: ['.env', 'kept.key'] }, { workdir }, notAborted)
    expect(named).toMatchObject({ message: expect.stringContaining('2 paths were left out by a deny rule') })
  })

  it('sees a change of the same size in the second of the last commit', async () => {
    const { workdir, write, git, preview } = await openRepository()
    await git('config', 'core.trustctime', 'false') // the only time that no program can set
    const then = new Date('2026-01-01T00:00:00Z')
    await utimes(join(workdir, 'a.txt'), then, then)
    await git('add', '--renormalize', 'a.txt')
    await utimes(join(workdir, '.git/index'), then, then)
    await write('a.txt', 'two\n')
    await utimes(join(workdir, 'a.txt'), then, then)
    expect(await preview('stage', { paths: ['a.txt'] })).toContain('-one\n+two\n')
  })

  it('refuses what has no change, what is ignored, what is outside, and content that changed meanwhile', async () => {
    const { write, preview, prepare, run } = await openRepository({ 'a.txt': 'one\n', '.gitignore': '*.log\n' })
    await write('x.log', '')
    expect(await preview('stage', { paths: ['a.txt'] })).toContain('There is nothing to stage there')
    expect(await preview('stage', { paths: ['x.log'] })).toContain('ignored by one of your .gitignore files')
    expect(await preview('stage', { paths: ['no.txt'] })).toContain("pathspec 'no.txt' did not match any files")
    expect(await preview('stage', { paths: ['../x'] })).toContain('outside_workdir')
    await write('a.txt', 'two\n')
    const prepared = await prepare('stage', { paths: ['a.txt'] })
    await write('a.txt', 'three\n')
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : expect.fail('it is usable')
    expect(await run('stage', { paths: ['a.txt'] }, { contentHash })).toMatch(/^failed: content_changed/)
  })
})

describe('git_commit', () => {
  it('previews branch, message and diff, and commits what is staged', async () => {
    const { write, git, preview, run } = await openRepository()
    expect(await preview('commit', { message: 'x' })).toBe(
      'unusable: bad_request: Nothing is staged. Stage files with git_stage first.',
    )
    await write('a.txt', 'eins\n')
    await git('add', 'a.txt')
    const message = 'Use German\n\n- "quoted" $HOME `x`'
    const shown = await preview('commit', { message })
    for (const part of ['commit on branch main', 'Use German', 'No hooks run.', '-one\n+eins\n'])
      expect(shown).toContain(part)
    expect(await run('commit', { message })).toMatch(/^committed \w+ Use German\n 1 file changed/)
    expect(await git('log', '-1', '--format=%B')).toBe(`${message}\n\n`)
  })

  it('names the hooks in its preview, runs them, shows what they say, and reports their refusal', async () => {
    const { write, git, workdir, preview, run } = await openRepository()
    await write('a.txt', 'eins\n')
    await git('add', 'a.txt')
    await write('.git/hooks/pre-commit', '#!/bin/sh\nenv > hook-env; echo checking >&2; exit 1\n', 0o755)
    expect(await preview('commit', { message: 'x' })).toMatch(
      /These hooks run, programs of this repository .*: pre-commit\./,
    )
    const shown: string[] = []
    expect(await run('commit', { message: 'x' }, { show: (text) => shown.push(text) })).toBe(
      'failed: bad_request: git refused: checking',
    )
    expect(shown.join('')).toContain('checking')
    expect(await readdir(workdir)).toContain('hook-env')
    const environment = await readFile(join(workdir, 'hook-env'), 'utf8')
    expect(environment).not.toMatch(/hush|GIT_DIR=\/nonexistent/)
  })

  it('does not run a hook that came after the question', async () => {
    const { write, git, workdir, prepare, run } = await openRepository()
    await write('a.txt', 'eins\n')
    await git('add', 'a.txt')
    const prepared = await prepare('commit', { message: 'x' })
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : expect.fail('it is usable')
    await write('.git/hooks/pre-commit', '#!/bin/sh\ntouch ran\n', 0o755)
    expect(await run('commit', { message: 'x' }, { contentHash })).toMatch(/^failed: content_changed/)
    expect(await readdir(workdir)).not.toContain('ran')
  })

  it('says that hooks run outside the sandbox and asks each time, and puts their processes on record', async () => {
    const { write, git, workdir, beside } = await openRepository()
    await write('a.txt', 'eins\n')
    await git('add', 'a.txt')
    const directory = join(beside, 'records')
    await write(
      '.git/hooks/pre-commit',
      `#!/bin/sh\nls ${directory} > listed; echo "$AGENT_PROCESS_MARK" > mark\n`,
      0o755,
    )
    const state = async () => ({ setting: 'on' as const, isInForce: true })
    const commit = createGitCommit({ environment, records: createProcessRecords(directory), sandbox: state })
    const message = 'Use German\n\nIt is shorter.'
    expect(await commit.prepare({ message }, { workdir }, notAborted)).toMatchObject({
      preview: { diff: expect.stringContaining('These hooks run outside the sandbox, programs of this repository') },
      alwaysAsk: 'hooks of the repository run outside the sandbox',
    })
    expect(await commit.run({ message }, { workdir }, createToolRun().run)).toMatchObject({ type: 'ok' })
    expect(await git('log', '-1', '--format=%B')).toBe(`${message}\n\n`)
    expect(await readFile(join(workdir, 'listed'), 'utf8')).toMatch(/\.process\n$/)
    expect(await readFile(join(workdir, 'mark'), 'utf8')).toMatch(/^\d+\//)
    expect(await readdir(directory)).toEqual([])
  })

  it('removes its lock file when it is aborted', async () => {
    const { write, git, workdir, run } = await openRepository()
    await write('a.txt', 'eins\n')
    await git('add', 'a.txt')
    await write('.git/hooks/pre-commit', '#!/bin/sh\necho waiting >&2; sleep 1000\n', 0o755)
    const controller = new AbortController()
    const stuck = run('commit', { message: 'x' }, { signal: controller.signal, show: () => controller.abort() })
    expect(await stuck).toBe('failed: aborted')
    expect(await readdir(join(workdir, '.git'))).not.toContain('index.lock')
  })
})

describe("a hostile repository's own configuration", () => {
  /** Runs every tool, as a person who approves everything would. */
  async function runAll({ run, preview }: Awaited<ReturnType<typeof openRepository>>) {
    const stage = { paths: ['a.txt'] }
    const texts = [await run('status'), await run('diff'), await run('diff', { staged: true }), await run('log')]
    texts.push(await preview('stage', stage), await run('stage', stage), await preview('commit', { message: 'x' }))
    return texts
  }

  it.each([
    ['core.fsmonitor', { 'core.fsmonitor': 'PROGRAM' }],
    ['hooks', { 'core.hooksPath': 'hooks' }],
    ['diff.external', { 'diff.external': 'PROGRAM' }],
    ['textconv', { 'diff.evil.textconv': 'PROGRAM', 'diff.evil.command': 'PROGRAM' }],
    ['a pager and an editor', { 'core.pager': 'PROGRAM', 'pager.log': 'PROGRAM', 'core.editor': 'PROGRAM' }],
    ['signatures', { 'log.showSignature': 'true', 'core.askPass': 'PROGRAM', 'core.sshCommand': 'PROGRAM' }],
    [
      'a remote of a partial clone',
      {
        'remote.x.url': 'ext::PROGRAM',
        'remote.x.promisor': 'true',
        'extensions.partialClone': 'x',
        'protocol.ext.allow': 'always',
        'core.repositoryFormatVersion': '1',
      },
    ],
  ] as const)('runs no program of %s', async (_, settings) => {
    const repository = await openRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil filter=none\n' })
    const { git, write, workdir, beside } = repository
    const program = join(beside, 'evil.sh')
    await writeFile(program, `#!/bin/sh\ntouch ${beside}/ran\ncat "$1" 2>/dev/null\n`, { mode: 0o755 })
    for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction'])
      await write(`hooks/${hook}`, `#!/bin/sh\ntouch ${beside}/ran\n`, 0o755)
    await write('a.txt', 'two\n')
    for (const [name, value] of Object.entries(settings)) await git('config', name, value.replace('PROGRAM', program))
    if ('extensions.partialClone' in settings)
      await rm(join(workdir, '.git/objects', (await git('rev-parse', 'HEAD:a.txt')).slice(0, 2)), { recursive: true })
    await runAll(repository)
    expect(await readdir(beside)).not.toContain('ran')
  })

  it('runs no program of any other setting, of a file that it includes or of a submodule, also for a commit', async () => {
    const repository = await openRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil merge=evil\n' })
    const { git, write, workdir, beside, run } = repository
    const program = join(beside, 'evil.sh')
    await writeFile(program, `#!/bin/sh\ntouch ${beside}/ran\ncat "$1" 2>/dev/null\n`, { mode: 0o755 })
    await git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', workdir, 'inner')
    await writeFile(join(workdir, 'inner/a.txt'), 'changed\n')
    const settings = {
      'core.fsmonitor': program,
      'core.pager': program,
      'core.editor': program,
      'core.sshCommand': program,
      'core.askPass': program,
      'core.gitProxy': program,
      'core.alternateRefsCommand': program,
      'sequence.editor': program,
      'diff.external': program,
      'diff.evil.command': program,
      'diff.evil.textconv': program,
      'merge.evil.driver': program,
      'credential.helper': `!${program}`,
      'trailer.x.command': program,
      'trailer.x.cmd': program,
      'uploadpack.packObjectsHook': program,
      'interactive.diffFilter': program,
      'alias.status': `!${program}`,
      'alias.log': `!${program}`,
      'format.pretty': '%(trailers)',
      'diff.submodule': 'diff',
      'status.submoduleSummary': 'true',
    }
    for (const [name, value] of Object.entries(settings))
      for (const folder of ['.', 'inner']) await git('-C', folder, 'config', name, value)
    await git('-C', 'inner', 'config', 'filter.evil.clean', program)
    await writeFile(join(workdir, 'inner/.gitattributes'), '* filter=evil\n')
    await rm(join(beside, 'ran'), { force: true })
    await write('a.txt', 'two\n')
    for (const text of await runAll(repository)) expect(text).not.toMatch(/^(?:failed|unusable)/)
    expect(await run('commit', { message: 'Second\n\nx: y' })).toMatch(/^committed/)
    expect(await readdir(beside)).not.toContain('ran')
    await write('evil.config', `[filter "evil"]\n\tclean = ${program}\n`)
    await write('.gitattributes', '* filter=evil\n')
    await git('config', 'include.path', join(workdir, 'evil.config'))
    await write('a.txt', 'three\n')
    for (const text of await runAll(repository)) expect(text).toMatch(/untrusted_workspace: .*filter\.evil\.clean/)
    expect(await readdir(beside)).not.toContain('ran')
  })

  it('signs a commit with no program of its own', async () => {
    const { git, write, beside, run } = await openRepository()
    await write('a.txt', 'two\n')
    await git('add', 'a.txt')
    for (const [name, value] of [
      ['commit.gpgSign', 'true'],
      ['gpg.format', 'x509'],
      ['gpg.x509.program', `${beside}/evil.sh`],
    ] as const)
      await git('config', name, value)
    await writeFile(join(beside, 'evil.sh'), `#!/bin/sh\ntouch ${beside}/ran\n`, { mode: 0o755 })
    expect(await run('commit', { message: 'x' })).toMatch(/untrusted_workspace: .*gpg\.x509\.program/)
    expect(await readdir(beside)).not.toContain('ran')
  })

  it.each(['filter.evil.clean', 'filter.evil.process', 'filter.a b=.smudge', 'gpg.program', 'gpg.ssh.program'])(
    'is refused if it sets %s, and says how to go on',
    async (name) => {
      const repository = await openRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt filter=evil\n' })
      const { git, write, beside } = repository
      await write('a.txt', 'two\n')
      await git('config', name, `touch ${beside}/ran; cat`)
      for (const text of await runAll(repository))
        expect(text).toMatch(/untrusted_workspace: .* use git with the shell tool/)
      expect(await readdir(beside)).not.toContain('ran')
    },
  )

  it.each<[string, (beside: string, workdir: string) => Promise<unknown>]>([
    ['a link', (beside, workdir) => symlink(join(beside, 'other/.git'), join(workdir, '.git'))],
    ['a file', (beside, workdir) => writeFile(join(workdir, '.git'), `gitdir: ${join(beside, 'other/.git')}\n`)],
    [
      'a folder with a commondir',
      async (beside, workdir) => {
        await mkdir(join(workdir, '.git'))
        await writeFile(join(workdir, '.git/HEAD'), 'ref: refs/heads/main\n')
        await writeFile(join(workdir, '.git/commondir'), `${join(beside, 'other/.git')}\n`)
      },
    ],
  ])('reads no repository elsewhere that .git leads to as %s', async (_, lead) => {
    const { workdir, beside, run } = await openRepository()
    await rm(join(workdir, '.git'), { recursive: true })
    const other = async (...words: readonly string[]) =>
      promisify(execFile)('git', words, { cwd: join(beside, 'other'), env: plain })
    await mkdir(join(beside, 'other'))
    await other('init', '-q', '-b', 'main', '--template=')
    await writeFile(join(beside, 'other/secret.txt'), 'secret\n')
    await other('add', '.')
    await other('commit', '-qm', 'Secret')
    await lead(beside, workdir)
    for (const name of ['diff', 'log', 'status'] as const)
      expect(await run(name)).toMatch(/^failed: untrusted_workspace: \.git leads to /)
  })

  it('works in a linked work tree and in a submodule, which their repositories name', async () => {
    const { workdir, git } = await openRepository()
    await git('worktree', 'add', '-q', '../linked')
    await git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', workdir, 'inner')
    for (const tree of [join(workdir, '../linked'), join(workdir, 'inner')]) {
      await writeFile(join(tree, 'a.txt'), 'two\n')
      expect(await createCalls(tree).run('diff')).toContain('+two')
    }
  })

  it('works in a repository with a separate folder of git once that names the work tree', async () => {
    const { workdir, beside, git, run } = await openRepository()
    await git('init', '-q', '--separate-git-dir', join(beside, 'data'))
    await writeFile(join(workdir, 'a.txt'), 'two\n')
    const refused = await run('diff')
    expect(refused).toMatch(/^failed: untrusted_workspace: .*names no work tree/)
    const [, command = ''] = /let a person run (git .*) there/.exec(refused) ?? []
    await promisify(execFile)('sh', ['-c', command], { cwd: workdir, env: plain })
    expect(await run('diff')).toContain('+two')
    const other = join(beside, 'other') // it cannot be used from another folder
    await mkdir(other)
    await writeFile(join(other, '.git'), `gitdir: ${join(beside, 'data')}\n`)
    expect(await createCalls(other).run('diff')).toMatch(/^failed: /)
  })

  it('cannot name another folder as its work tree, nor a program called git', async () => {
    const { git, write, workdir, beside, run } = await openRepository()
    await write('git', `#!/bin/sh\ntouch ${beside}/ran\n`, 0o755)
    const tools = createGitStatus({ environment: { ...environment, PATH: `.:${workdir}:${environment.PATH}` } })
    await tools.run({}, { workdir }, createToolRun().run)
    expect(await readdir(beside)).not.toContain('ran')
    await mkdir(join(beside, 'elsewhere'))
    await git('config', 'core.worktree', join(beside, 'elsewhere'))
    expect(await run('status')).toMatch(/^failed: /)
  })
})
