import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fault, orThrow, type Permission, type PermissionRule, refuse } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { createConfinement } from '../shell/confinement.ts'
import { createPermissions } from './permissions.ts'

let base = ''
let workdir = ''
let file = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-rules-'))
  workdir = join(base, 'work')
  file = join(base, 'config', 'permissions.json')
  for (const folder of ['work', 'bin']) mkdirSync(join(base, folder))
  writeFileSync(join(base, 'bin', 'git'), '', { mode: 0o755 })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const open = () => createPermissions({ file, searchPath: join(base, 'bin') })
const shell = (command: string) => ({ tool: 'shell', args: { command }, workdir })
const reading = (path: string, tool = 'read_file') => ({ tool, args: { path }, workdir })
const rule = (verdict: Permission['verdict'], tool: string, pattern?: string): PermissionRule => ({
  tool,
  verdict,
  ...(pattern !== undefined && { pattern }),
})
const addAll = async (...rules: readonly PermissionRule[]) => {
  for (const one of rules) orThrow(await open().add(one))
}

describe("the user's rules", () => {
  it('apply to all sessions, and are named with the verdict', async () => {
    await addAll(rule('allow', 'shell', 'git status'), rule('deny', 'shell', 'git push **'))
    expect(await open().judge(shell('git status'), [])).toEqual({ verdict: 'allow', by: 'your rule `git status`' })
    expect(await open().judge(shell('git push'), [])).toEqual({ verdict: 'deny', by: 'your rule `git push **`' })
    expect(await open().judge(shell('git log'), [])).toBeNull()
  })

  it('refuse a command in the sandbox if they cannot be read: what they hide is not known', async () => {
    await addAll(rule('deny', '*', '.env'))
    expect(await open().deniedPaths(workdir)).toEqual({ ok: true, value: [join(workdir, '.env')] })
    writeFileSync(file, '{')
    expect(await open().deniedPaths(workdir)).toMatchObject({ ok: false })
    const sandbox: Sandbox = {
      known: { setting: 'on', isInForce: true },
      state: async () => ({ setting: 'on', isInForce: true }),
      wrap: () => Promise.reject(new Error('the command must not run')),
    }
    const confinement = createConfinement({ sandbox, tmp: null, network: false, ...open() })
    const wanted = { command: 'cat .env', workdir, network: false, context: { workdir } }
    expect(await confinement.wrap(['cat', '.env'], wanted)).toMatchObject({ ok: false })
  })

  it('forbid a path in every spelling that a file system may take for it, and allow it only as it is written', async () => {
    await addAll(rule('deny', '*', '.env'), rule('deny', '*', 'Secrets/**'), rule('ask', 'write_file', 'caf\u00e9/*'))
    await addAll(rule('allow', 'read_file', 'docs/*'))
    for (const path of ['.env', '.ENV', '.Env', '.e\u200bnv', 'secrets/key', 'SECRETS/a/b'])
      expect(await open().judge(reading(path), []), path).toMatchObject({ verdict: 'deny' })
    expect(await open().judge(reading('cafe\u0301/menu', 'write_file'), [])).toMatchObject({ verdict: 'ask' })
    expect(await open().judge(shell('cat .ENV'), [])).toMatchObject({ verdict: 'ask' })
    expect(await open().judge(reading('docs/a'), [])).toMatchObject({ verdict: 'allow' })
    expect(await open().judge(reading('DOCS/a'), [])).toBeNull()
    const denied = orThrow(await open().deniedTest('grep', { workdir }))
    expect(await Promise.all(['.ENV', 'secrets/key', 'docs/a'].map((path) => denied?.(path)))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('about a whole folder deny no command, and ask about one that names it', async () => {
    await addAll(rule('deny', '*', 'secrets/**'), rule('deny', '*', 'keys/*.pem'), rule('deny', '*', '/usr/share/*'))
    expect(await open().judge(shell('ls -la'), [])).toBeNull()
    expect(await open().judge(shell('cat other.pem'), [])).toBeNull()
    for (const command of ['cat secrets/key', 'cat keys/a.pem', 'ls /usr/share/x'])
      expect(await open().judge(shell(command), []), command).toMatchObject({ verdict: 'ask' })
  })

  it('about skills and tools of servers are not about paths', async () => {
    await addAll(rule('deny', 'skill', 'release'), rule('deny', 'mcp__files__read', 'release'))
    await addAll(rule('allow', 'shell', 'git log **'))
    expect(await open().judge(shell('git log release'), [])).toMatchObject({ verdict: 'allow' })
    expect(await open().deniedPaths(workdir)).toEqual({ ok: true, value: [] })
  })

  it('are weighed together with those of the session: deny beats ask beats allow', async () => {
    await addAll(rule('allow', 'shell', 'git **'.replace('git', 'git log')), rule('ask', 'write_file'))
    const own = [rule('deny', 'shell', 'git log --all')]
    expect(await open().judge(shell('git log --all'), own)).toEqual({
      verdict: 'deny',
      by: "the session's rule `git log --all`",
    })
    expect(await open().judge(reading('a', 'write_file'), [rule('allow', '*', 'a')])).toMatchObject({ verdict: 'ask' })
  })

  it.each([
    ...['cat .env', 'cat "./.env"', 'git log -- .env', 'git log .e""nv', 'cp x sub/../.env', 'git show --output=.env'],
    ...['cat<.env', 'git log ../work/.env', 'cd sub && cat ../.env', 'git log link', 'git log keys/a.pem'],
  ])('ask about a command that names a denied path, whatever allows it: %s', async (command) => {
    await addAll(rule('deny', '*', '.env'), rule('deny', 'read_file', 'keys/**'), rule('allow', 'shell', 'git log **'))
    writeFileSync(join(workdir, '.env'), '')
    symlinkSync('.env', join(workdir, 'link'))
    expect(await open().judge(shell(command), [])).toMatchObject({
      verdict: 'ask',
      by: expect.stringContaining('rule'),
    })
    expect(await open().judge(shell('git log environment a.env .envrc'), [])).toMatchObject({ verdict: 'allow' })
  })

  it('deny or ask about commands that may name a path, if the pattern begins with a wildcard', async () => {
    await addAll(rule('deny', '*', '**/.env'), rule('allow', 'shell', 'git log **'))
    const verdictOf = async (command: string) => (await open().judge(shell(command), []))?.verdict
    expect(await Promise.all(['cat sub/.env', 'cat .env', 'git log $HOME', 'git log sub'].map(verdictOf))).toEqual([
      ...['deny', 'ask', 'ask', 'allow'],
    ])
    for (const path of ['.env', 'sub/.env', 'a/b/.env'])
      expect(await open().judge(reading(path), [])).toMatchObject({ verdict: 'deny' })
    expect(await open().judge(reading('sub/.env'), [rule('deny', '*', '.env')])).toMatchObject({
      by: 'your rule `* **/.env`',
    })
  })

  it('of a workspace apply to sessions of this folder, and not to those of its subfolders', async () => {
    mkdirSync(join(workdir, 'sub'))
    orThrow(await open().add({ ...rule('deny', 'read_file'), workspace: workdir }))
    expect(await open().judge(reading('a'), [])).toMatchObject({ verdict: 'deny' })
    expect(await open().judge({ ...reading('a'), workdir: join(workdir, 'sub') }, [])).toBeNull()
  })

  it.each([
    ...[
      'cd sub && cat key',
      'cd sub; cd deep; cat ../key',
      'cat -C sub key',
      'cat -Csub key',
      'cd sub/deep && cat ../key',
    ],
    `cat ${Array.from({ length: 900 }, (_, at) => `a${at}`).join(' ')} sub/key`,
    `cat ${Array.from({ length: 2000 }, (_, at) => `a${at}`).join(' ')} sub/key`,
  ])('ask about a command that names a denied path from a folder, or after many words', async (command) => {
    await addAll(rule('deny', '*', 'sub/key'), rule('allow', 'shell', 'cat **'))
    expect(await open().judge(shell(command), [])).toMatchObject({ verdict: 'ask' })
    expect(await open().judge(shell('cd sub && cat other'), [])).toBeNull()
  })

  it('match both paths of a move', async () => {
    await addAll(rule('deny', '*', '.env'), rule('allow', 'move_file', 'a*'))
    const move = (path: string, to: string) => ({ tool: 'move_file', args: { path, new_path: to }, workdir })
    expect(await open().judge(move('a', '.env'), [])).toMatchObject({ verdict: 'deny' })
    expect(await open().judge(move('a', 'b'), [])).toBeNull()
    expect(await open().judge(move('a', 'a2'), [])).toMatchObject({ verdict: 'allow' })
  })

  it('of a workspace apply there only', async () => {
    await addAll({ ...rule('allow', 'write_file'), workspace: workdir })
    expect(await open().judge(reading('a', 'write_file'), [])).toMatchObject({ by: 'your rule `write_file`' })
    const elsewhere = { ...reading('a', 'write_file'), workdir: base }
    expect(await open().judge(elsewhere, [])).toBeNull()
    expect(await open().list({ workspace: base })).toEqual({ ok: true, value: [] })
    expect(await open().list({ workspace: '' })).toEqual({ ok: true, value: [] }) // a session without a folder
    expect(orThrow(await open().list({ workspace: `${workdir}/.` }))).toHaveLength(1)
  })

  it('apply to a running judge from the next call on, whoever changed them', async () => {
    const running = open()
    expect(await running.judge(shell('git status'), [])).toBeNull()
    const { id } = orThrow(await open().add(rule('deny', 'shell', 'git *')))
    expect(await running.judge(shell('git status'), [])).toMatchObject({ verdict: 'deny' })
    orThrow(await open().remove(id))
    expect(await running.judge(shell('git status'), [])).toBeNull()
    expect(await open().remove(id)).toMatchObject({ ok: false, fault: { code: 'not_found' } })
  })

  it('are stored once each, in a file that only the user can read', async () => {
    await addAll(rule('ask', 'shell'), rule('ask', 'shell'))
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, rules: [{ tool: 'shell', verdict: 'ask' }] })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['is not JSON', () => writeFileSync(file, '{')],
    ['has an unknown rule', () => writeFileSync(file, '{"version":1,"rules":[{"tool":"shell","verdict":"maybe"}]}')],
    ['others can change', () => chmodSync(file, 0o666)],
  ])('in a file that %s leave every call to a person, and the file as it is', async (_, damage) => {
    await addAll(rule('allow', 'shell', 'git status'))
    damage()
    const before = readFileSync(file)
    const reason = expect.stringContaining(file)
    expect(await open().judge(shell('git status'), [])).toEqual({ verdict: 'unknown', reason })
    expect(await open().add(rule('ask', 'shell'))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(readFileSync(file)).toEqual(before)
  })

  it('in a store that does not answer can be read later, and a call that is judged meanwhile learns it', async () => {
    const away = fault('storage_error', 'The store does not answer.', { reason: 'unreachable' })
    const rows = {
      rules: async () => refuse(away),
      addRule: async () => refuse(away),
      removeRule: async () => refuse(away),
    }
    const shared = createPermissions({ file, shared: async () => rows })
    const reason = expect.stringContaining(away.message)
    expect(await shared.judge(shell('git status'), [])).toEqual({ verdict: 'unknown', reason, away })
  })

  it('of a repository grant nothing', async () => {
    for (const folder of ['.', '.holdfast']) {
      mkdirSync(join(workdir, folder), { recursive: true })
      const granted = { version: 1, rules: [{ tool: '*', verdict: 'allow' }] }
      writeFileSync(join(workdir, folder, 'permissions.json'), JSON.stringify(granted))
    }
    expect(await open().judge(shell('git status'), [])).toBeNull()
  })
})

describe('an allow rule', () => {
  it.each([
    ...['**', '*', 'bash **', 'sh -c *', 'env **', 'xargs **', 'sudo **', 'python **', 'python3.12 **', 'node **'],
    ...['npx **', 'ssh **', 'docker **', 'make **', 'git **', 'git *', 'npm run **', 'npm **', 'npm run *', 'gi* **'],
    ...['/usr/bin/git status', '', '" " x', 'awk **', 'command **', 'timeout 5 **'],
    ...['fakeroot **', 'mksh **', 'ln **'],
    ...['git config **', 'git config *', 'git config core.*', 'git config --global **', 'git -c **', 'git -C **'],
    ...['git submodule **', 'git submodule foreach **', 'git bisect run **', 'git filter-branch **', 'git difftool **'],
    ...['git config --unset **', 'git bisect *', 'git credential-store **', 'git --exec-path=x **'],
  ])('for shell %j is refused: it would allow too much', async (pattern) => {
    const refused = await open().add(rule('allow', 'shell', pattern))
    expect(refused).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it('with a wildcard after a program that only writes files is refused without a wrong reason', async () => {
    const refused = await open().add(rule('allow', 'shell', 'ln **'))
    expect(refused).toMatchObject({
      fault: { message: expect.stringContaining('ln can run programs or write any file') },
    })
  })

  it('for a command of git that sets programs says why it is refused', async () => {
    expect(await open().add(rule('allow', 'shell', 'git config **'))).toMatchObject({
      fault: { message: expect.stringContaining('git config can set programs that git runs') },
    })
  })

  it.each([
    'git status',
    'git log **',
    'npm test',
    'npm run build',
    'npm run test:*',
    'git config --get **',
    'git config user.name me',
    'git submodule status **',
    'make build',
    'ls **',
    'bash x.sh',
  ])('for shell %j can be stored', async (pattern) =>
    expect(await open().add(rule('allow', 'shell', pattern))).toMatchObject({ ok: true }),
  )

  it('for the paths of every tool can be stored', async () => {
    await addAll(rule('allow', '*', 'src/**'))
    expect(await open().add(rule('allow', '*', '**'))).toMatchObject({ ok: false })
    expect(await open().judge(shell('src/x'), [])).toBeNull()
  })

  it('for every command is refused; to ask or deny is not', async () => {
    for (const tool of ['shell', '*'])
      expect(await open().add(rule('allow', tool))).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(await open().add({ ...rule('allow', 'shell'), exact: true })).toMatchObject({ ok: false })
    await addAll(rule('deny', 'shell'), rule('ask', '*'), rule('deny', 'shell', 'bash **'))
  })

  it.each(['shell', '*'])(
    'of a session for every command is refused, and an older one covers none: %s',
    async (tool) => {
      expect(open().refuse([rule('deny', 'shell'), rule('allow', tool)])).toMatchObject({ ok: false })
      expect(open().refuse([rule('deny', 'shell'), rule('allow', 'shell', 'git status')])).toMatchObject({ ok: true })
      expect(await open().judge(shell('touch x'), [rule('allow', tool)])).toBeNull()
    },
  )

  it('for shell covers no word that leads out of the workdir through a link', async () => {
    await addAll(rule('allow', 'shell', 'git log **'))
    symlinkSync(join(base, 'bin'), join(workdir, 'link'))
    expect(await open().judge(shell('git log other'), [])).toMatchObject({ verdict: 'allow' })
    for (const command of ['git log link', 'git log link/git', 'git log --x=link'])
      expect(await open().judge(shell(command), [])).toBeNull()
  })

  it('for shell covers no program that the shell finds in the workdir', async () => {
    await addAll(rule('allow', 'shell', 'git status'))
    const inside = createPermissions({ file, searchPath: `${join(workdir, 'bin')}:${join(base, 'bin')}` })
    expect(await inside.judge(shell('git status'), [])).toMatchObject({ verdict: 'allow' })
    mkdirSync(join(workdir, 'bin'))
    writeFileSync(join(workdir, 'bin', 'git'), '', { mode: 0o755 })
    expect(await inside.judge(shell('git status'), [])).toBeNull()
    const relative = createPermissions({ file, searchPath: `.:${join(base, 'bin')}` })
    expect(await relative.judge(shell('git status'), [])).toBeNull()
  })
})

describe('a rule for paths', () => {
  const denied = [rule('deny', '*', '.env'), rule('deny', '*', 'secret/**')]
  const verdict = async (path: string, rules: readonly Permission[] = denied) =>
    (await open().judge(reading(path), rules))?.verdict ?? null

  it.each([
    '.env',
    './.env',
    'a/../.env',
    './a/.././.env',
    'secret/a/b',
    'secret//a',
    'secret',
    './secret/../secret/a',
  ])('that denies is not passed by the spelling %j', async (path) => expect(await verdict(path)).toBe('deny'))

  it('that denies is not passed by a link or an absolute path', async () => {
    writeFileSync(join(workdir, '.env'), '')
    symlinkSync('.env', join(workdir, 'link'))
    mkdirSync(join(workdir, 'secret'))
    symlinkSync('secret', join(workdir, 'open'))
    for (const path of ['link', 'open/key', join(workdir, '.env'), `${workdir}/./.env`])
      expect([path, await verdict(path)]).toEqual([path, 'deny'])
    expect(await verdict('.environment')).toBeNull()
  })

  it('that allows covers only what the glob covers, where its links lead too', async () => {
    const allowed = [rule('allow', 'read_file', 'src/**')]
    expect(await verdict('src/a/b.ts', allowed)).toBe('allow')
    expect(await verdict('src/../.env', allowed)).toBeNull()
    mkdirSync(join(workdir, 'src'))
    writeFileSync(join(workdir, 'key'), '')
    symlinkSync('../key', join(workdir, 'src', 'key'))
    expect(await verdict('src/key', allowed)).toBeNull()
    expect(await verdict('src/a', [rule('allow', 'read_file', 'src/*')])).toBe('allow')
    expect(await verdict('src/a/b', [rule('allow', 'read_file', 'src/*')])).toBeNull()
  })

  it('that denies keeps the meaning of `*` in older rules: any text', async () => {
    expect(await verdict('keys/a/b', [rule('deny', '*', 'keys/*')])).toBe('deny')
  })

  it('applies to every path of a call', async () => {
    const move = (from: string, to: string) => ({ tool: 'move_file', args: { from, to }, workdir })
    expect(await open().judge(move('a', './x/../.env'), denied)).toMatchObject({ verdict: 'deny' })
    const allowed = [rule('allow', 'move_file', 'src/**')]
    expect(await open().judge(move('src/a', 'src/b'), allowed)).toMatchObject({ verdict: 'allow' })
    expect(await open().judge(move('src/a', 'b'), allowed)).toBeNull()
  })
})

it.each([
  ...['https://evil.example/x', 'https://EVIL.example/x', 'https://evil.example./x', 'https://evil.example:443/x'],
  ...['https://user@evil.example/x', 'https:evil.example/x', 'https://ev%69l.example/x', ' https://evil.example/x'],
])('a rule that denies an address is not passed by the spelling %j', async (url) => {
  await addAll(
    rule('deny', 'fetch_url', 'https://*evil.example/*'),
    rule('allow', 'fetch_url', 'https://docs.example/*'),
  )
  const verdict = async (address: string) =>
    (await open().judge({ tool: 'fetch_url', args: { url: address }, workdir }, []))?.verdict
  expect(await verdict(url)).toBe('deny')
  expect(await verdict('https://docs.example/a')).toBe('allow')
  for (const other of ['https://docs.example.evil.org/', 'https://docs.example@evil.org/', 'https://docs.ехample/a'])
    expect(await verdict(other)).not.toBe('allow')
})

describe('"always allow"', () => {
  it('stores the exact command for its workspace; a star in it is literal', async () => {
    const command = 'git log --grep=* > out'
    const stored = orThrow(await open().allow(shell(command)))
    expect(stored).toEqual({
      rule: { tool: 'shell', pattern: command, exact: true, verdict: 'allow' },
      by: `your rule \`${command}\``,
    })
    expect(orThrow(await open().list())).toMatchObject([{ workspace: workdir, exact: true }])
    expect(await open().judge(shell(command), [])).toEqual({ verdict: 'allow', by: stored?.by })
    expect(await open().judge(shell('git log --grep=x > out'), [])).toBeNull()
    expect(await open().judge({ ...shell(command), workdir: base }, [])).toBeNull()
  })

  it('stores the exact arguments of a tool with broad effects, and every call of another', async () => {
    const exact = { tool: 'mcp__x__y', args: { b: [1, { d: 1, c: 2 }], a: '*' }, workdir }
    orThrow(await open().allow(exact))
    const same = { ...exact, args: { a: '*', b: [1, { c: 2, d: 1 }] } }
    expect(await open().judge(same, [])).toMatchObject({ verdict: 'allow' })
    expect(await open().judge({ ...exact, args: { a: 'x' } }, [])).toBeNull()
    orThrow(await open().allow(reading('a', 'write_file')))
    expect(await open().judge(reading('b', 'write_file'), [])).toMatchObject({ verdict: 'allow' })
  })

  it('stores no rule for a command that is too long for one', async () => {
    expect(await open().allow(shell('x'.repeat(1001)))).toEqual({ ok: true, value: null })
    expect(await open().list()).toEqual({ ok: true, value: [] })
  })
})
