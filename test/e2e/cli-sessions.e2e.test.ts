import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, type CliOptions, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

/** Starts a session with a message; returns its handle. */
async function spoken(prompt = 'hello', options: CliOptions = {}): Promise<string> {
  const { stdout } = await cli.run(['run', prompt, '--json'], options)
  const { result } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  const { stdout: list } = await cli.run(['ls', '--all', '--json'], options)
  const { sessions }: { sessions: { id: string; handle: string }[] } = JSON.parse(list)
  return sessions.find(({ id }) => id === result.sessionId)?.handle ?? ''
}

const json = async (...args: readonly string[]) => JSON.parse((await cli.run([...args, '--json'])).stdout)
const handlesOf = ({ sessions }: { readonly sessions: readonly { readonly handle: string }[] }) =>
  sessions.map(({ handle }) => handle)

/** Reads all rows of sessions and records. */
function rows(): unknown {
  const database = new DatabaseSync(join(cli.home, 'data', 'holdfast.db'), { readOnly: true })
  const all = ['session', 'record', 'blob_use', 'trust'].map((table) =>
    database.prepare(`select * from ${table}`).all(),
  )
  database.close()
  return all
}

describe('search', () => {
  it('finds messages in this workspace, in all and in one session, and reports no hits', async () => {
    const handle = await spoken('the old lighthouse')
    await spoken('another lighthouse')
    const { hits } = await json('search', 'old', 'lighthouse', '--role', 'user') // the demo quotes the prompt
    expect(hits).toMatchObject([{ title: 'the old lighthouse', kind: 'user', snippet: 'the old lighthouse' }])
    const here = await json('search', 'lighthouse', '--session', handle, '--role', 'user', '--since', '1d')
    expect(here).toMatchObject({ hits: [{ sessionId: hits[0].sessionId, messageId: hits[0].messageId }], next: null })
    expect((await cli.run(['search', 'lighthouse', '--role', 'user', '--all'])).stdout).toContain('another lighthouse')
    expect((await cli.run(['search', 'old', 'lighthouse', '--role', 'user'])).stdout).toMatch(
      new RegExp(`^${handle}  .* #`),
    )
    expect(await cli.run(['search', 'zebra', '--all'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No hits.\n',
    })
    expect(await cli.run(['search', '…'])).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('wrong usage', () => {
  it.each([
    [['rm'], 'rm needs <session>, or --all.'],
    [['rm', 'calm-harbor-1', '--all'], 'Use either --all or session names, not both.'],
    [['rm', '--all', '--forever'], '--forever works with session names only. Use rm --all, then trash empty.'],
    [['rm', 'calm-harbor-1', '--workspace', '.'], '--workspace works with --all only.'],
    [['prune'], 'prune needs --older-than <age>, for example 30d.'],
    [
      ['prune', '--older-than', 'old'],
      "--older-than must be a whole number with its unit, up to 1,000 years: 90m, 12h, 30d or 2w, not 'old'.",
    ],
    [['trash', 'restore'], 'trash restore needs <session>, or --all. holdfast trash lists them.'],
    [['trash', 'empti'], "trash has no action 'empti'. Did you mean 'empty'?"],
    [['trash', 'list', '--dry-run'], '--dry-run works with trash empty only.'],
    [
      ['ls', '--age', '7'],
      "--age must be a whole number with its unit, up to 1,000 years: 90m, 12h, 30d or 2w, not '7'.",
    ],
    [
      ['serve', '--retention', '0d'],
      '--retention must be a whole number with its unit, up to 1,000 years: 90m, 12h, 30d or 2w, and more than 0.',
    ],
    [['search'], 'search needs <text>: holdfast search <text> [more…].'],
    [['search', 'x', '--role', 'bot'], "--role must be user, assistant, tool or system, not 'bot'."],
    [
      ['search', 'x', '--since', '2026-02-30'],
      "--since must be a date such as 2026-01-31, or a whole number with its unit, up to 1,000 years: 90m, 12h, 30d or 2w; not '2026-02-30'.",
    ],
    [['ls', '--cursor', 'x'], `--cursor must be "next" of an earlier list, not 'x'.`],
    [['trash', '--cursor', 'x'], `--cursor must be "next" of an earlier list, not 'x'.`],
    [['search', 'x', '--cursor', 'x'], `--cursor must be "next" of an earlier search, not 'x'.`],
    [['rename', '@latest'], 'rename needs <title>: holdfast rename <session> <title>.'],
    [['mv-workspace', 'here'], 'mv-workspace needs <to>: holdfast mv-workspace <from> <to>.'],
  ])('of %j is rejected, and creates nothing', async (args, message) => {
    expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '', stderr: `${message}\n` })
    expect(existsSync(cli.home)).toBe(false)
  })

  it('creates no store to look for sessions', async () => {
    expect(await cli.run(['prune', '--older-than', '1d'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Moved to the trash: 0 sessions.\n',
    })
    expect(await cli.run(['trash'])).toMatchObject({ code: 0, stdout: '', stderr: 'The trash is empty.\n' })
    expect(await cli.run(['rm', '--all', '--dry-run'])).toMatchObject({ code: 0, stdout: '' })
    expect(existsSync(join(cli.home, 'data'))).toBe(false)
  })

  it.each([
    [['ls']],
    [['search', 'x']],
    [['trash']],
    [['show', '@latest']],
    [['rm', '--all']],
    [['rm', 'calm-harbor-1']],
    [['prune', '--older-than', '1d']],
  ])('reports that the store of %j does not exist', async (args) => {
    const store = `sqlite:${join(cli.workdir, 'none.db')}`
    expect(await cli.run([...args, '--store', store])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `The store ${store} does not exist. Check the path given with --store.\n`,
    })
    expect(existsSync(join(cli.workdir, 'none.db'))).toBe(false)
  })

  it('includes a cursor of another store', async () => {
    await spoken()
    expect(await cli.run(['search', 'hello', '--cursor', '1-2-3.4.1-2-3'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('removing sessions', () => {
  it('moves them to the trash, restores them and deletes them permanently', async () => {
    const [one, two] = [await spoken(), await spoken()]
    expect(await cli.run(['rm', one])).toMatchObject({
      code: 0,
      stdout: `${one}\n`,
      stderr: 'Moved to the trash: 1 session.\n',
    })
    expect(handlesOf(await json('ls'))).toEqual([two])
    expect(handlesOf(await json('trash'))).toEqual([one])
    const shown = await cli.run(['show', one])
    expect([shown.code, shown.stderr]).toEqual([
      1,
      `Session ${one} is in the trash. \`holdfast trash restore ${one}\` takes it out.\n`,
    ])
    expect(await cli.run(['trash', 'restore', one])).toMatchObject({ code: 0, stdout: `${one}\n` })
    expect(handlesOf(await json('ls'))).toContain(one)

    expect(await json('rm', one, 'cold-harbor-9', two)).toMatchObject({
      count: 2,
      failed: [{ name: 'cold-harbor-9', error: { code: 'session_not_found' } }],
    })
    const restored = await cli.run(['trash', 'restore', '--all'])
    expect(restored.stdout.trim().split('\n').sort()).toEqual([one, two].sort())
    expect(await cli.run(['rm', one, two])).toMatchObject({ code: 0 })
    expect((await json('trash', 'empty', '--older-than', '1d')).count).toBe(0)
    expect(await cli.run(['trash', 'empty'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes.') })
    expect((await json('trash', 'empty', '--yes')).count).toBe(2)
    expect(handlesOf(await json('trash'))).toEqual([])
  })

  it('deletes a session permanently with --forever, in the trash or not', async () => {
    const [one, two] = [await spoken(), await spoken()]
    await cli.run(['rm', two])
    // Nobody can be asked here.
    expect(await cli.run(['rm', one, two, '--forever'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --yes.'),
    })
    expect(await cli.run(['rm', one, two, '--forever', '--yes'])).toMatchObject({
      code: 0,
      stdout: `${one}\n${two}\n`,
      stderr: 'Deleted permanently: 2 sessions.\n',
    })
    expect([handlesOf(await json('ls')), handlesOf(await json('trash'))]).toEqual([[], []])
  })

  it('prunes and removes all, and lists those that stay', async () => {
    const [one, two] = [await spoken(), await spoken()]
    expect(await cli.run(['pin', one])).toMatchObject({ code: 0, stdout: '' })
    expect((await json('prune', '--older-than', '1d')).count).toBe(0)
    const pruned = await cli.run(['prune', '--older-than', '0d'])
    expect(pruned).toMatchObject({ code: 0, stdout: `${two}\n` })
    expect(pruned.stderr).toBe(`Moved to the trash: 1 session.\n${one} stays, because it is pinned: hello\n`)
    await cli.run(['trash', 'restore', two])
    const elsewhere = join(cli.workdir, 'below')
    mkdirSync(elsewhere)
    expect((await json('rm', '--all', '--workspace', elsewhere)).count).toBe(0)
    expect(await json('rm', '--all')).toMatchObject({ count: 1, stayed: [{ handle: one, reason: 'pinned' }] })
    expect((await json('rm', '--all', '--force', '--dry-run')).count).toBe(1)
    await cli.run(['pin', one, '--off'])
    const far = await spoken('far', { cwd: elsewhere })
    expect((await json('rm', '--all', '--dry-run')).workspaces).toHaveLength(2)
    const cleared = await cli.run(['rm', '--all'])
    expect(cleared.stdout.trim().split('\n').toSorted()).toEqual([one, far].toSorted())
    expect(cleared.stderr.split('\n').toSorted().filter(Boolean)).toEqual([
      `1 session of ${cli.workdir}`,
      `1 session of ${elsewhere}`,
      'Moved to the trash: 2 sessions.',
      'To restore one: holdfast trash restore <session>',
    ])
  })

  it('changes nothing in a dry run', async () => {
    const [one, two] = [await spoken(), await spoken()]
    await cli.run(['rm', two])
    const moved = join(cli.workdir, 'moved')
    mkdirSync(moved)
    const before = rows()
    expect(await cli.run(['rm', one, '--dry-run'])).toMatchObject({
      code: 0,
      stdout: `${one}\n`,
      stderr: 'Would move to the trash: 1 session.\n',
    })
    expect(await json('rm', '--all', '--dry-run')).toMatchObject({ count: 1, dryRun: true })
    expect(await json('prune', '--older-than', '0d', '--dry-run')).toMatchObject({ count: 1, dryRun: true })
    expect(await json('trash', 'empty', '--dry-run')).toMatchObject({ count: 1, dryRun: true })
    expect(await json('mv-workspace', cli.workdir, moved, '--dry-run')).toMatchObject({ count: 1, dryRun: true })
    expect(rows()).toEqual(before)
  })

  it('goes through the running server, which refuses sessions in use', async () => {
    const server = cli.start(['serve', '--port', '0', '--no-page'])
    await server.until('stdout', /^http/)
    const handle = await spoken()
    await cli.run(['rename', handle, 'Harbour works'])
    expect((await json('ls')).sessions).toMatchObject([{ handle, title: 'Harbour works' }])
    await cli.run(['tell', handle, 'sendPrompt', 'content=write a.txt: hi'])
    expect((await cli.run(['rm', handle])).stderr).toContain('Abort it, or delete it with force.')
    expect((await json('rm', handle)).error.code).toBe('turn_running')
    expect((await json('rm', handle, '--force')).count).toBe(1)
    expect(handlesOf(await json('trash'))).toEqual([handle])
    expect((await json('trash', 'restore', handle)).session.handle).toBe(handle)
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  it('happens daily in a server with --retention', async () => {
    const handle = await spoken()
    const database = new DatabaseSync(join(cli.home, 'data', 'holdfast.db'))
    database.exec(`update session set active_at = active_at - ${3 * 24 * 3_600_000}`)
    database.close()
    const server = cli.start(['serve', '--port', '0', '--no-page', '--retention', '2d'])
    await server.until('stderr', /^Retention moved 1 session to the trash\.$/m)
    expect(handlesOf(await json('trash'))).toEqual([handle])
    server.kill('SIGTERM')
    await server.ended
  })
})

describe('listing sessions', () => {
  it('applies every filter, and lists pinned sessions first', async () => {
    const [one, two] = [await spoken(), await spoken('hello', { environment: {} })]
    expect(handlesOf(await json('ls'))).toEqual([two, one])
    await cli.run(['pin', one])
    expect(handlesOf(await json('ls'))).toEqual([one, two])
    expect((await cli.run(['ls'])).stdout).toContain('* hello')
    expect(handlesOf(await json('ls', '--pinned'))).toEqual([one])
    expect(handlesOf(await json('ls', '--model', 'demo/agent'))).toEqual([one, two])
    expect(handlesOf(await json('ls', '--model', 'demo/other'))).toEqual([])
    expect(handlesOf(await json('ls', '--age', '1d'))).toEqual([one, two])
    expect(handlesOf(await json('ls', '--running'))).toEqual([])
    expect(handlesOf(await json('ls', '--waiting'))).toEqual([])
    expect((await json('tell', '@latest', 'rename', 'title=the last')).result).toEqual({ title: 'the last' })
    expect((await json('ls')).sessions).toMatchObject([{ handle: one, title: 'hello' }, { title: 'the last' }])
  })
})

describe('mv-workspace', () => {
  const from = () => join(cli.workdir, 'from')
  const to = () => join(cli.workdir, 'to')

  it('moves the sessions of a folder and of the folders below', async () => {
    mkdirSync(join(from(), 'below'), { recursive: true })
    mkdirSync(join(cli.workdir, 'from-elsewhere'))
    const one = await spoken('hello', { cwd: from() })
    const below = await spoken('hello', { cwd: join(from(), 'below') })
    const other = await spoken('hello', { cwd: join(cli.workdir, 'from-elsewhere') })
    const missing = await cli.run(['mv-workspace', from(), to()])
    expect([missing.code, missing.stderr]).toEqual([1, `${to()} does not exist. Move the folder there first.\n`])

    renameSync(from(), to())
    const moved = await cli.run(['mv-workspace', 'from', 'to'])
    expect(moved.code).toBe(0)
    expect(moved.stdout.trimEnd().split('\n').toSorted()).toEqual([one, below].toSorted())
    expect(moved.stderr).toBe(`Moved 2 sessions to ${to()}.\nTrust given in the old folder does not carry over.\n`)
    const { sessions } = await json('ls', '--all')
    const places = Object.fromEntries(
      sessions.map(({ handle, workspace }: { handle: string; workspace: string }) => [handle, workspace]),
    )
    expect(places).toEqual({ [one]: to(), [below]: join(to(), 'below'), [other]: join(cli.workdir, 'from-elsewhere') })
    expect((await cli.run(['run', 'list', '-s', one], { cwd: to() })).code).toBe(0)
  })

  it('accepts a link at the old path', async () => {
    mkdirSync(from())
    const one = await spoken('hello', { cwd: from() })
    renameSync(from(), to())
    symlinkSync(to(), from())
    expect((await json('mv-workspace', from(), to())).moved).toMatchObject([{ handle: one, workspace: to() }])
    expect(handlesOf(await json('ls', '--workspace', from()))).toEqual([one])
  })

  it('lists the sessions that could not be moved', async () => {
    mkdirSync(join(from(), 'below'), { recursive: true })
    const below = await spoken('hello', { cwd: join(from(), 'below') })
    mkdirSync(to())
    const tried = await json('mv-workspace', from(), to(), '--dry-run')
    const moved = await cli.run(['mv-workspace', from(), to(), '--json'])
    expect(moved.code).toBe(1)
    for (const { count, stayed } of [tried, JSON.parse(moved.stdout)]) {
      expect([count, stayed]).toMatchObject([0, [{ handle: below, reason: expect.stringContaining('below') }]])
    }
  })
})
