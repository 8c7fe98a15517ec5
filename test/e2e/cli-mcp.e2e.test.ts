import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openSignInServer } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

const server = new URL('../../packages/holdfast/src/tools/mcp/hostile-server.fixture.ts', import.meta.url).pathname
const start = [process.execPath, server, 'plain']
let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

describe('mcp', () => {
  it('adds, tries, lists and removes a server', async () => {
    expect((await cli.run(['mcp'])).stderr).toContain('No server is configured. For example: holdfast mcp add')
    const added = await cli.run(['mcp', 'add', 'mine', '--env', 'A=1,2', '--env', 'B=2', '--', ...start])
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('mine answers, and has 8 tools.\n') })
    const file = String(/to (\S+mcp\.json)\./.exec(added.stderr)?.[1])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      mcpServers: { mine: { command: start[0], args: start.slice(1), env: { A: '1,2', B: '2' } } },
    })
    expect((await cli.run(['mcp'])).stdout).toMatch(/mine +user +stopped +8 /)
    const tried = await cli.run(['mcp', 'test', 'mine'])
    expect(tried).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('mine answers.\nTools:\n  mcp__mine__hello\n'),
    })
    const failed = await cli.run(['mcp', 'add', 'my notes', '--', join(cli.workdir, 'none')])
    expect(failed).toMatchObject({ code: 0, stderr: expect.stringContaining("holdfast mcp test 'my notes'\n") })
    expect(failed.stderr).toContain('It is added, but does not answer.')
    await cli.run(['mcp', 'remove', 'my notes'])
    const log = join(cli.workdir, 'starts')
    expect((await cli.run(['mcp', 'add', 'later', '--later', '--', ...start, log])).stderr).toContain(
      'mcp test later\n',
    )
    expect((await cli.run(['mcp'])).stdout).toMatch(/later +user +stopped +not asked yet/)
    expect(existsSync(log)).toBe(false)
    await cli.run(['mcp', 'remove', 'later'])
    expect(await cli.run(['mcp', 'remove', 'mine'])).toMatchObject({ code: 0 })
    expect(JSON.parse((await cli.run(['mcp', '--json'])).stdout)).toEqual({ servers: [], problems: [] })
  })

  it('names servers of the workspace that wait for trust, and starts none of them', async () => {
    const log = join(cli.workdir, 'starts')
    const theirs = { command: start[0], args: [...start.slice(1), log] }
    writeFileSync(join(cli.workdir, '.mcp.json'), JSON.stringify({ mcpServers: { theirs } }))
    expect(await cli.run(['mcp'])).toMatchObject({
      stdout: expect.stringMatching(/theirs +workspace +untrusted/),
      stderr: expect.stringContaining('To use it: holdfast trust grant theirs'),
    })
    expect((await cli.run(['run', 'count to 1'])).stderr).toContain('server theirs')
    expect(await cli.run(['mcp', 'test', 'theirs'])).toMatchObject({ code: 1 })
    expect(existsSync(log)).toBe(false)
    await cli.run(['trust', 'grant', 'theirs'])
    expect(await cli.run(['mcp', 'test', 'theirs'])).toMatchObject({ code: 0 })
    expect(existsSync(log)).toBe(true)
  })

  it('takes over the servers of another program', async () => {
    const foreign = join(cli.workdir, 'vscode.json')
    const servers = {
      mine: { type: 'stdio', command: start[0], args: start.slice(1), envFile: '.env' },
      b: { url: 'x' },
    }
    writeFileSync(foreign, JSON.stringify({ servers }))
    expect(await cli.run(['mcp', 'add', '--from', foreign, 'mine'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /mine: envFile was not taken over\.\nAdded mine to [^\n]+\nmine answers, and has 8 tools\.\n/,
      ),
    })
    expect(await cli.run(['mcp', 'test', 'mine'])).toMatchObject({ code: 0 })
    expect(await cli.run(['mcp', 'add', '--from', foreign, 'min'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no server min. Did you mean 'mine'?"),
    })
    expect(await cli.run(['mcp', 'add', '--from', foreign])).toMatchObject({
      stderr: expect.stringContaining('You have a server mine, which stays as it is.'),
    })
    expect((await cli.run(['mcp', 'add', '--from', foreign, 'mine'])).stderr).toContain('Replaced mine in ')
  })

  it('signs in to a server in the browser, and out again', async () => {
    await using closing = new AsyncDisposableStack()
    const server = await openSignInServer()
    closing.defer(server.close)
    expect((await cli.run(['mcp', 'add', 'signed', server.url])).stderr).toContain('holdfast mcp login signed')
    expect(await cli.run(['mcp'])).toMatchObject({
      stdout: expect.stringMatching(/signed +user +needs sign-in/),
      stderr: expect.stringContaining('signed needs a sign-in: holdfast mcp login signed'),
    })
    const login = cli.start(['mcp', 'login', 'signed'])
    const [page] = await login.until('stderr', /http:\/\/127\.0\.0\.1:\S+\/authorize\S+/)
    await fetch(await server.approve(new URL(page)))
    expect(await login.ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Signed in to signed. It has 1 tools.'),
    })
    expect((await cli.run(['mcp'])).stdout).toMatch(/signed +user +stopped +1 /)
    expect((await cli.run(['mcp', 'logout', 'signed'])).stderr).toContain('its tokens are deleted')
    expect((await cli.run(['mcp', 'logout', 'signed'])).stderr).toContain('You were not signed in')
  })

  it('cancels the question of a server in a run without a terminal, and says so', async () => {
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
    const everything = join(manifest, '..', 'dist', 'index.js')
    await cli.run(['mcp', 'add', 'every', '--', process.execPath, everything])
    expect((await cli.run(['mcp', 'test', 'every'])).stdout).toContain(
      'Prompts, as slash commands:\n  /mcp__every__simple-prompt: A prompt with no arguments\n',
    )
    const ran = await cli.run(['run', '--yes', 'call mcp__every__trigger-elicitation-request'])
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('Cancelled: run cannot ask you here.') })
    expect(ran.stdout).toMatch(/cancel/i)
  })

  it.each([
    [['mcp', 'lits'], 2, "mcp has no action 'lits'. Did you mean 'list'?"],
    [['mcp', 'add', 'mine'], 2, 'mcp add needs a name, and a command after -- or a URL.'],
    [['mcp', 'add', 'mine', 'https://mcp.example', 'more'], 2, 'A server with a URL takes no arguments.'],
    [['mcp', 'add', 'mine', '--header', 'a:b', '--', 'x'], 2, '--header belongs to a server with a URL.'],
    [['mcp', 'add', 'mine', '--env', 'a', '--', 'x'], 2, '--env needs NAME=value'],
    [['mcp', 'add', 'a\nb', '--', 'x'], 1, 'a name has 1 to 64 plain characters.'],
    [['mcp', 'test', 'none'], 1, 'There is no server none'],
    [['mcp', 'remove', 'none'], 1, 'has no server none.'],
  ])('%j is refused with a hint', async (args, code, hint) => {
    const { stderr, ...ran } = await cli.run(args)
    expect([ran.code, stderr]).toEqual([code, expect.stringContaining(hint)])
  })
})
