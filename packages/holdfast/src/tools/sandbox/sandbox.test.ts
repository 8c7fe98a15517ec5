import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import type { ToolContext, ToolRun } from '@holdfast/core/ports'
import { invariant, type ProcessMark, SessionId } from '@holdfast/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { createPermissions } from '../permissions/permissions.ts'
import { livingMembers, markProcess, markValue } from '../program/process-group.ts'
import { createTools } from '../tools.ts'
import { findBubblewrap } from './find-bubblewrap.ts'
import { createPlaceholders } from './placeholders.ts'
import { createSandbox } from './sandbox.ts'

const bubblewrap = await findBubblewrap(process.env['PATH'])
if (bubblewrap.path === null)
  process.stderr.write(
    `\nSKIPPED: the tests of the sandbox. ${bubblewrap.reason}, so nothing here shows that it confines.\n\n`,
  )

const session = SessionId.parse(`ses_0${'1'.repeat(25)}`)
const other = SessionId.parse(`ses_0${'2'.repeat(25)}`)

async function open(setting: 'auto' | 'on' | 'off' = 'on', more: Partial<Parameters<typeof createTools>[0]> = {}) {
  const { workdir, beside } = await openWorkdir()
  const home = join(beside, 'home')
  const own = join(beside, 'own')
  await mkdir(join(home, '.ssh'), { recursive: true })
  await mkdir(own)
  await writeFile(join(home, '.ssh/id'), 'private')
  await writeFile(join(home, '.npmrc'), 'token')
  await writeFile(join(own, 'holdfast.db'), 'records')
  await writeFile(join(beside, 'plain.txt'), 'plain')
  const tools = createTools({
    environment: { PATH: process.env['PATH'], HOME: home, SSH_AUTH_SOCK: '/run/agent' },
    sandbox: setting,
    ownPaths: [own],
    shellDirectory: join(own, 'shells'),
    memory: createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 }),
    ...more,
  })
  onTestFinished(() => tools.background?.end())
  const shell = tools.find('shell')
  invariant(shell, 'there is a shell')
  async function run(command: string, context: Partial<ToolContext> = {}, args = {}, parts: Partial<ToolRun> = {}) {
    const made = createToolRun(parts)
    const result = await shell?.run({ command, ...args }, { workdir, session, ...context }, made.run)
    invariant(result, 'it ran')
    return { ...result, text: result.output.text, group: made.marks[0]?.group ?? 0 }
  }
  const prepare = (command: string, args = {}) => shell.prepare({ command, ...args }, { workdir, session }, notAborted)
  return { workdir, beside, home, own, tools, shell, run, prepare }
}

describe.skipIf(bubblewrap.path === null)('a command in the sandbox', () => {
  it('writes the working directory and its own /tmp, and nothing else', async () => {
    // Outside of /tmp, which is another one for the command.
    const { run, workdir } = await open()
    const { text } = await run(
      'echo in > in.txt; echo t > /tmp/t; for d in /etc /usr /var/lib /root "$HOME"; do touch "$d/holdfast-escape" 2>&1; done; true',
    )
    expect(await readFile(join(workdir, 'in.txt'), 'utf8')).toBe('in\n')
    expect(text.match(/holdfast-escape/g)).toHaveLength(5)
    expect((await run('cat /tmp/t')).text).toBe('t\n')
    const listed = (await run('ls -A /tmp', { session: other })).text.split('\n') // other names may end with t
    expect(listed).not.toContain('t')
  })

  it('reads neither secrets nor the data of Holdfast, and keeps its exit code', async () => {
    const { workdir } = await openWorkdir()
    const home = join(workdir, 'home') // in the working directory: nothing but the sandbox hides it
    const own = join(workdir, 'own')
    for (const folder of [join(home, '.ssh'), join(home, '.config/gh'), own]) await mkdir(folder, { recursive: true })
    await writeFile(join(home, '.ssh/id'), 'private-key')
    await writeFile(join(home, '.netrc'), 'private-key')
    await writeFile(join(home, '.config/gh/hosts.yml'), 'private-key')
    await writeFile(join(home, 'real-npmrc'), 'private-key')
    await symlink('real-npmrc', join(home, '.npmrc'))
    await writeFile(join(own, 'holdfast.db'), 'private-key')
    const { run } = await open('on', { environment: { PATH: process.env['PATH'], HOME: home }, ownPaths: [own] })
    const { text, type } = await run('grep -r private-key . 2>&1; ls home/.ssh 2>&1; exit 7', { workdir })
    expect(text).not.toContain(':private-key')
    expect(text).toContain('Permission denied')
    expect(text).toContain('exit code 7')
    expect(type).toBe('failed')
  })

  it('sees only its own processes, no sockets in /run, and no agent of keys', async () => {
    const { run } = await open()
    const { text } = await run(
      'ls /proc | grep -c "^[0-9]*$"; ls -A /run; echo "[$SSH_AUTH_SOCK]"; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status',
    )
    expect(text).toMatch(/^\d\n\[\]\nNoNewPrivs:\t1\nCapEff:\t0{16}\n$/)
  })

  it('cannot write the settings of the machine, also as root, nor what later sessions read of .holdfast', async () => {
    const { run, workdir } = await open()
    await mkdir(join(workdir, '.holdfast'))
    // Opens them for writing, and writes nothing.
    const paths =
      '/proc/sys/kernel/core_pattern /proc/sys/vm/overcommit_memory /proc/sysrq-trigger .holdfast/hooks.json'
    const { text } = await run(`for f in ${paths}; do if ( : >> $f ) 2>/dev/null; then echo "opened $f"; fi; done`)
    expect(text).not.toContain('opened')
  })

  it('hides the files that variables name, also several in one', async () => {
    const { workdir } = await openWorkdir()
    const files = ['kube-1', 'kube-2', 'google.json'].map((name) => join(workdir, name))
    for (const file of files) await writeFile(file, 'private-key')
    const environment = {
      PATH: process.env['PATH'],
      KUBECONFIG: files.slice(0, 2).join(':'),
      GOOGLE_APPLICATION_CREDENTIALS: files[2],
    }
    const { run } = await open('on', { environment })
    expect((await run('cat kube-1 kube-2 google.json; true', { workdir })).text).not.toContain('private-key')
  })

  it('says which files edit boundaries keep read-only, if a command fails or goes on in the background', async () => {
    const { workdir, run } = await open()
    await writeFile(join(workdir, 'kept.txt'), 'one\n')
    const content = '0'.repeat(64)
    const boundaries = [{ path: 'kept.txt', start: 0, end: 0, content } as never] // its lines do not matter here
    const note = /\[read-only for commands, because of edit boundaries: kept\.txt\. Change them with edit_file/
    expect((await run('echo two > kept.txt', { boundaries })).text).toMatch(note)
    expect((await run('sleep 1000', { boundaries }, { background: true })).text).toMatch(note)
    expect((await run('true', { boundaries })).text).not.toMatch(note)
    expect((await run('false')).text).not.toMatch(note)
  })

  it('keeps a bounded file read-only, also when its folder is renamed and replaced', async () => {
    const { run, workdir } = await open()
    await mkdir(join(workdir, 'a/b'), { recursive: true })
    await writeFile(join(workdir, 'a/b/kept.txt'), 'one\ntwo\n')
    const content = '0'.repeat(64)
    const boundaries = [{ path: 'a/b/kept.txt', start: 0, end: 0, content } as never] // its lines do not matter here
    const attack =
      'echo x > a/b/kept.txt; sed -i s/one/two/ a/b/kept.txt; rm -f a/b/kept.txt; mv a/b/kept.txt z; mv a z; mv a/b z; ' +
      'mkdir -p a/b && echo x > a/b/kept.txt; echo free > a/b/free.txt; true'
    expect((await run(attack, { boundaries })).type).toBe('ok')
    expect(await readFile(join(workdir, 'a/b/kept.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(await readFile(join(workdir, 'a/b/free.txt'), 'utf8')).toBe('free\n')
  })

  it('commits in a linked worktree, and changes neither what git runs there nor its links', async () => {
    const { run, workdir } = await open('on', { sandbox: 'off' })
    const made =
      'git init -q -b main main && cd main && git config user.name a && git config user.email a@example.com && ' +
      'git commit -q --allow-empty -m zero && git worktree add -q ../linked'
    expect((await run(made)).text).toBe('')
    const linked = join(workdir, 'linked')
    const data = join(workdir, 'main/.git')
    const confined = await open()
    const attack =
      'echo x > ../main/.git/config; echo x > ../main/.git/hooks/pre-commit; echo x > ../main/file; mv .git g; echo "gitdir: /x" > .git; ' +
      `cd ../main/.git/worktrees/linked; echo /x > commondir; rm -f gitdir; mv ../linked ../other; cd "${linked}"; ` +
      'echo a > a && git add a && git commit -qm one && git log --format=%s'
    const { text } = await confined.run(attack, { workdir: linked })
    expect(text).toMatch(/\none\nzero\n$/)
    expect(await readFile(join(data, 'config'), 'utf8')).toContain('a@example.com')
    expect(await readdir(join(data, 'hooks'))).not.toContain('pre-commit')
    expect(await readdir(join(workdir, 'main'))).toEqual(['.git'])
    expect(await readFile(join(data, 'worktrees/linked/commondir'), 'utf8')).toBe('../..\n')
    expect((await confined.run('git log -1 --format=%s', { workdir: linked })).text).toBe('one\n')
  })

  it('does not open a repository that does not name this worktree', async () => {
    const { run, workdir } = await open('on', { sandbox: 'off' })
    await run(
      'git init -q other && git init -q mine && mkdir -p other/.git/worktrees/x && echo ../.. > other/.git/worktrees/x/commondir',
    )
    await rm(join(workdir, 'mine/.git'), { recursive: true })
    await writeFile(join(workdir, 'mine/.git'), 'gitdir: ../other/.git/worktrees/x\n')
    const confined = await open()
    for (const back of [null, join(workdir, 'elsewhere/.git')]) {
      if (back !== null) await writeFile(join(workdir, 'other/.git/worktrees/x/gitdir'), back)
      await confined.run('echo x > ../other/.git/refs/x; true', { workdir: join(workdir, 'mine') })
      expect(await readdir(join(workdir, 'other/.git/refs'))).not.toContain('x')
    }
  })

  it('keeps git hooks and config read-only, and lets git commit', async () => {
    const { run, workdir } = await open('on', { sandbox: 'off' })
    await run('git init -q . && git config user.name a && git config user.email a@example.com')
    await rm(join(workdir, '.git/hooks'), { recursive: true })
    const confined = await open()
    const config = await readFile(join(workdir, '.git/config'), 'utf8')
    const attack =
      'echo "[core]" >> .git/config; git config core.fsmonitor ./x; echo x > .git/hooks/pre-commit; mv .git g; rm -rf .git/hooks; ' +
      'echo a > a && git add a && git commit -qm one && git log --format=%s'
    const { text } = await confined.run(attack, { workdir })
    expect(text).toMatch(/\none\n$/)
    expect(await readFile(join(workdir, '.git/config'), 'utf8')).toBe(config)
    expect(await readdir(join(workdir, '.git/hooks'))).toEqual([])
    await writeFile(join(workdir, '.git/hooks/kept'), 'kept')
    expect((await confined.run('cat .git/hooks/kept; rm -rf .git/hooks; mv .git g', { workdir })).text).toContain(
      'kept',
    )
    expect(await readdir(join(workdir, '.git/hooks'))).toEqual(['kept'])
  })

  it('runs nothing if a folder was swapped for a link while the sandbox was made', async () => {
    const { workdir, beside } = await openWorkdir()
    await mkdir(join(workdir, '.git'))
    await writeFile(join(workdir, '.git/HEAD'), '')
    await mkdir(join(workdir, 'a'))
    await writeFile(join(workdir, 'a/kept.txt'), 'kept')
    const environment = { PATH: process.env['PATH'] }
    const sandbox = createSandbox({
      setting: 'on',
      environment,
      ownPaths: [],
      placeholders: createPlaceholders(undefined),
    })
    const argv = ['/bin/sh', '-c', 'touch ../escaped ../../escaped; echo ran']
    const swapped = { '.git': '..', a: '..', 'a/kept.txt': '../../outside' }
    await writeFile(join(beside, 'outside'), 'outside')
    for (const [path, target] of Object.entries(swapped)) {
      const tmp = async () => null
      const wrapped = await sandbox.wrap({ argv, workdir, tmp, network: false, readOnly: ['a/kept.txt'] })
      invariant(wrapped.ok && wrapped.value, 'it is confined')
      await rename(join(workdir, path), join(beside, 'moved'))
      await symlink(target, join(workdir, path))
      const [program = '', ...rest] = wrapped.value.argv
      const { stdout, status } = spawnSync(program, rest, { encoding: 'utf8', env: environment })
      expect({ path, stdout, isFailed: status !== 0 }).toEqual({ path, stdout: '', isFailed: true })
      expect(await readdir(beside)).not.toContain('escaped')
      await rm(join(workdir, path))
      await rename(join(beside, 'moved'), join(workdir, path))
      await wrapped.value.release()
    }
    const again = await sandbox.wrap({ argv, workdir, tmp: async () => null, network: false, readOnly: ['a/kept.txt'] })
    invariant(again.ok && again.value, 'it is confined')
    const [program = '', ...rest] = again.value.argv
    expect(spawnSync(program, rest, { encoding: 'utf8', env: environment }).stdout).toBe('ran\n')
    await again.value.release()
  })

  it('cannot write memory where there is none yet, which later sessions would believe', async () => {
    const { run, workdir } = await open()
    const { text } = await run('mkdir -p .holdfast; echo believe > .holdfast/MEMORY.md; mv .holdfast other')
    expect(text).toMatch(/Read-only file system|Device or resource busy/)
    await expect.poll(() => readdir(workdir)).not.toContain('.holdfast')
  })

  it('cannot make git run a program of its own: by a shared folder, a new repository, hooks or settings elsewhere', async () => {
    const { run: prepareWith, workdir } = await open('on', { sandbox: 'off' })
    const made =
      'git init -q repo && cd repo && git config core.hooksPath .husky && git config include.path ../more.config && ' +
      'git config --add include.path ../absent.config && git config user.name a && git config user.email a@example.com && ' +
      'mkdir .husky && touch more.config && git init -q x/nested && mkdir ../none'
    expect((await prepareWith(made)).text).toBe('')
    const confined = await open()
    const [repo, none] = [join(workdir, 'repo'), join(workdir, 'none')]
    const attack = [
      'printf "[core]\\n\\tfsmonitor = touch ran; false\\n" > evil-config',
      'cp -r .git evil; cp evil-config evil/config; echo ../evil > .git/commondir',
      'rm .git/commondir; mkdir .git/commondir; cp evil-config .git/config.worktree',
      'cp evil-config more.config; cp evil-config absent.config; rm absent.config; mv evil-config absent.config',
      'printf "#!/bin/sh\\ntouch ran\\n" > .husky/pre-commit; chmod +x .husky/pre-commit',
      'git -C x/nested config core.fsmonitor "touch ran; false"; rm -rf x/nested/.git/config; mv x/nested x/other',
      'git add x evil; git commit --allow-empty -qm one; git log --format=%s',
    ]
    expect((await confined.run(attack.join('\n'), { workdir: repo })).text).toMatch(/\none\n$/)
    const seen = await readdir(join(repo, '.git'))
    expect(seen).not.toContain('commondir') // what kept the name free is gone again
    expect(await readdir(repo)).not.toContain('absent.config')
    await prepareWith('cd repo && git status && git commit --allow-empty -qm two && cd x/nested && git status')
    const left = await prepareWith('find . -name ran; cat repo/x/nested/.git/config | grep fsmonitor; true')
    expect(left.text).toBe('')
    const refused = await confined.run('git init -q . ; mkdir .git; ls -A', { workdir: none })
    expect(refused.text).toContain('Read-only file system')
    await expect.poll(() => readdir(none)).toEqual([])
  })

  it('keeps the name of a repository free until the last command ends, also for another process', async () => {
    const { run, workdir, own, tools } = await open()
    const records = join(own, 'shells/placeholders')
    const record = (mark: ProcessMark) => join(records, `${encodeURIComponent(markValue(mark))}+1.placeholder`)
    const placeholder = JSON.stringify({ path: join(workdir, '.git'), content: null })
    expect((await run('sleep 1001', {}, { background: true })).type).toBe('ok')
    await run('true')
    expect(await readdir(workdir)).toEqual(['.git', '.holdfast'])
    const another = record(await markProcess(process.ppid)) // a process that runs
    await writeFile(another, placeholder)
    await tools.background?.end(session)
    expect(await readdir(workdir)).toEqual(['.git'])
    await rename(another, record({ group: 99_999_999, startedAt: 'x' })) // one that has died
    await tools.background?.endLeftovers()
    expect(await readdir(workdir)).toEqual([])
    expect(await readdir(records)).toEqual([])
  })

  it('has the network only by a rule, by the configuration or by a question', async () => {
    const server = createServer((_, response) => void response.end('reached'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { readonly port: number } // it listens on a port
    const script = `node -e "fetch('http://127.0.0.1:${port}').then(async (r) => console.log(await r.text()), () => console.log('none'))"`
    const { beside } = await openWorkdir()
    const rules = createPermissions({ file: join(beside, 'permissions.json'), searchPath: process.env['PATH'] })
    const { run, prepare } = await open('on', { commandRules: rules })
    expect((await run(script)).text).toBe('none\n')
    expect(await prepare(script)).toMatchObject({ preview: { sandbox: { isInForce: true, network: false } } })
    const asked = await prepare(script, { network: true })
    expect(asked).toMatchObject({ alwaysAsk: 'it asks for the network', preview: { sandbox: { network: true } } })
    expect((await run(script, {}, { network: true })).text).toBe('reached\n')
    const open1 = await open('on', { sandboxNetwork: true })
    expect((await open1.run(script)).text).toBe('reached\n')
    await rules.add({ tool: 'network', verdict: 'allow', pattern: 'true' })
    expect(await prepare('true')).toMatchObject({ preview: { sandbox: { network: true } } })
    expect(await prepare('true; id')).toMatchObject({ preview: { sandbox: { network: false } } })
    await rules.add({ tool: 'network', verdict: 'deny', pattern: 'node **' })
    expect(await prepare(script, { network: true })).toMatchObject({
      type: 'unusable',
      message: expect.stringContaining('network_denied'),
    })
  })

  it('cannot read what rules keep tools from reading: files and whole folders', async () => {
    const { beside } = await openWorkdir()
    const rules = createPermissions({ file: join(beside, 'permissions.json'), searchPath: process.env['PATH'] })
    for (const [tool, pattern] of [
      ['*', '.env'],
      ['read_file', 'sub/keys/**'],
      ['write_file', 'open.txt'],
      ['*', '**/*'],
    ] as const)
      await rules.add({ tool, verdict: 'deny', pattern })
    const { run, workdir } = await open('on', { commandRules: rules })
    await mkdir(join(workdir, 'sub/keys'), { recursive: true })
    for (const path of ['.env', 'sub/keys/a.pem', 'open.txt']) await writeFile(join(workdir, path), 'secret\n')
    const { text } = await run('cat .env open.txt; cat sub/keys/a.pem 2>&1; mv .env x 2>&1; mv sub gone 2>&1')
    expect(text).toMatch(
      /^cat: \.env: Permission denied\nsecret\ncat: sub\/keys\/a\.pem: Permission denied\nmv: .*\nmv: .*/,
    )
    expect(text).toContain('[hidden from commands by rules of the user: .env, keys]')
    expect((await run('cat open.txt')).text).toBe('secret\n')
    expect(await readFile(join(workdir, '.env'), 'utf8')).toBe('secret\n')
  })

  it('cannot reach a socket of this machine in a hidden directory', async () => {
    const { run, own } = await open('on', {})
    const path = join(own, 's')
    const server = createSocketServer((socket) => socket.end('reached'))
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => void server.close())
    const { text } = await run(
      `node -e "require('net').connect('${path}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`,
    )
    expect(text).toMatch(/^(ENOENT|EACCES)\n$/)
  })

  it('ends with all its processes: those that left the group too, and in the background', async () => {
    const { run, tools, workdir } = await open()
    const abort = new AbortController()
    const command = 'trap "" TERM; setsid sleep 1001 & echo ready; while :; do sleep 0.01; done'
    let shown = ''
    const show = (text: string) => {
      shown += text
      if (shown.includes('ready')) abort.abort()
    }
    const killed = await run(command, {}, {}, { signal: abort.signal, show })
    expect(killed.type).toBe('failed')
    expect(killed.leftRunning).toBeUndefined()
    expect(await livingMembers(killed.group)).toEqual([])
    const started = await run('touch here; sleep 1002', {}, { background: true })
    await expect.poll(() => readdir(workdir), { timeout: 15_000 }).toContain('here')
    expect((await livingMembers(started.group)).filter(({ name }) => name === 'bwrap').length).toBeGreaterThan(0)
    await tools.background?.end(session)
    expect(await livingMembers(started.group)).toEqual([])
  })

  it('can clean up when it is stopped', async () => {
    const { run, tools } = await open()
    const { text } = await run(
      'trap "sleep 0.2; echo cleaned; exit 0" TERM; echo ready; while :; do sleep 0.01; done',
      {},
      { background: true },
    )
    const id = /as (\w+)\./.exec(text)?.[1]
    const call = async (name: string, args: object) =>
      (await tools.find(name)?.run({ id, ...args }, { workdir: '/', session }, createToolRun().run))?.output.text
    expect(await call('shell_output', { wait: 60 })).toContain('ready')
    await call('shell_stop', {})
    expect(await call('shell_output', {})).toContain('cleaned')
  })

  it('is described to the model once it was tried out', async () => {
    const { tools, shell, workdir } = await open('auto')
    expect(shell.schema.description).not.toContain('sandbox')
    await tools.whenDescribed?.(workdir)
    expect(JSON.stringify(shell.schema)).toContain('Commands run in a sandbox')
  })
})

describe('a sandbox that cannot be used', () => {
  const find = async () => ({ path: null, reason: 'bubblewrap does not work here (no permission)' }) as const
  const environment = { PATH: process.env['PATH'] }
  const placeholders = createPlaceholders(undefined)
  const command = { argv: ['true'], workdir: '/work', tmp: async () => null, network: false, readOnly: [] }

  it('is tried out once, and auto goes on without it and says why', async () => {
    let tries = 0
    const counted = () => {
      tries++
      return find()
    }
    const sandbox = createSandbox({ setting: 'auto', environment, ownPaths: [], placeholders, find: counted })
    expect(await sandbox.state('/work')).toEqual({
      setting: 'auto',
      isInForce: false,
      reason: 'bubblewrap does not work here (no permission)',
    })
    expect(await sandbox.wrap(command)).toEqual({ ok: true, value: null })
    expect(tries).toBe(1)
  })

  it('lets no command run if it is required', async () => {
    const sandbox = createSandbox({ setting: 'on', environment, ownPaths: [], placeholders, find })
    expect(await sandbox.wrap(command)).toMatchObject({ ok: false, fault: { code: 'sandbox_unavailable' } })
  })

  it('is not tried out if it is switched off', async () => {
    const sandbox = createSandbox({
      setting: 'off',
      environment,
      ownPaths: [],
      placeholders,
      find: () => Promise.reject(new Error()),
    })
    expect(await sandbox.wrap(command)).toEqual({ ok: true, value: null })
  })

  it('does not confine to the whole machine, and trusts no bubblewrap of the workspace', async () => {
    const found = async () => ({ path: '/project/bin/bwrap' })
    const sandbox = createSandbox({ setting: 'auto', environment, ownPaths: [], placeholders, find: found })
    expect(await sandbox.state('/')).toMatchObject({ isInForce: false })
    expect(await sandbox.state('/project')).toMatchObject({ isInForce: false })
    expect(await sandbox.state('/other')).toMatchObject({ isInForce: true })
  })
})
