import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { binPath, type Cli, createCli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { startEchoingService } from './echoing-service.ts'

const key = `made-login-${'X0'.repeat(10)}wxyz`
let cli: Cli
let service: Server
let asked: string[] = []
let url = ''
beforeEach(async () => {
  cli = createCli()
  asked = []
  service = createServer(({ method, url: path, headers }, response) => {
    asked.push(`${method} ${path}`)
    const isKnown = headers.authorization === `Bearer ${key}`
    response.writeHead(isKnown ? 200 : 401, { 'openai-organization': 'org-of-ada' })
    response.end(JSON.stringify(isKnown ? { data: [] } : { error: { message: `wrong: ${headers.authorization}` } }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  // A listening TCP server has an address of this type.
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`
})
afterEach(() => {
  cli[Symbol.dispose]()
  service.closeAllConnections()
  service.close()
})

const fileOf = ({ home }: Cli) => join(home, 'config', 'credentials.json')
const login = (input: string, ...flags: readonly string[]) =>
  cli.run(['auth', 'login', 'openai', '--key-stdin', ...flags], { input, environment: { OPENAI_BASE_URL: url } })

describe('auth login', () => {
  it('checks the key with one call, prints its account and saves it in a private file', async () => {
    const result = await login(`  ${key}\n`)
    expect(result).toMatchObject({ code: 0, stdout: '' })
    expect(result.stderr).toContain('It belongs to org-of-ada.')
    expect(asked).toEqual(['GET /v1/models'])
    expect(JSON.parse(readFileSync(fileOf(cli), 'utf8'))).toEqual({ version: 1, providers: { openai: { key } } })
    expect([statSync(fileOf(cli)).mode & 0o777, statSync(dirname(fileOf(cli))).mode & 0o777]).toEqual([0o600, 0o700])
  })

  it('saves the address with the key, and prints JSON', async () => {
    const result = await login(key, '--base-url', url, '--json')
    expect(JSON.parse(result.stdout)).toEqual({
      provider: 'openai',
      path: fileOf(cli),
      checked: true,
      account: 'org-of-ada',
    })
    expect(JSON.parse(readFileSync(fileOf(cli), 'utf8')).providers).toEqual({ openai: { key, baseUrl: url } })
  })

  it('does not save a rejected key', async () => {
    const result = await login('made-other-X0X0X0X0', '--json')
    expect(result.code).toBe(1)
    expect(JSON.parse(result.stdout).error).toMatchObject({ code: 'no_credentials', details: { reason: 'rejected' } })
    expect(result.stdout + result.stderr).not.toContain('X0X0')
    expect(existsSync(fileOf(cli))).toBe(false)
  })

  it('saves an unchecked key only with --no-check', async () => {
    service.close()
    const result = await login(key)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing listens at 127.0.0.1') })
    expect(existsSync(fileOf(cli))).toBe(false)
    expect(await login(key, '--no-check')).toMatchObject({ code: 0 })
    expect(existsSync(fileOf(cli))).toBe(true)
  })

  it.each([
    [['auth', 'login', 'openai', `${key}`], 2, 'not an argument'],
    [['auth', 'login', key, '--key-stdin'], 1, 'no provider of this name'],
    [['auth', 'login', 'opnai', '--key-stdin'], 1, "Did you mean 'openai'?"],
    [['auth', 'login', 'openai'], 2, 'no terminal to ask for the key'],
    [['auth', 'login', 'openai', '--key', key], 2, "has no flag '--key'"],
    [['auth', 'login', 'openai', '--key-stdin', '--base-url', 'http://u:hush@h'], 2, 'must not contain a user'],
    [['auth', 'login', 'openai', '--key-stdin', '--base-url', 'http://h/v1#part'], 2, 'or a fragment'],
    [['auth', 'logout', 'openai'], 1, 'no key for OpenAI'],
    [['auth', 'logout'], 2, 'needs a provider'],
    [['auth', 'status', '--no-check'], 2, 'work with auth login only'],
    [['auth', 'lgoin'], 2, "Did you mean 'login'?"],
  ])('rejects %j without repeating a key', async (args, code, words) => {
    const result = await cli.run(args, { input: key })
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) })
    expect(result.stderr).not.toMatch(/X0X0|hush/)
    expect(existsSync(fileOf(cli))).toBe(false)
  })

  it('does not overwrite a malformed file', async () => {
    mkdirSync(dirname(fileOf(cli)), { recursive: true })
    writeFileSync(fileOf(cli), '{"version": 1, "serv')
    for (const args of [
      ['auth', 'status'],
      ['auth', 'logout', 'openai'],
    ])
      expect(await cli.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('is damaged') })
    expect(await login(key)).toMatchObject({ code: 1, stderr: expect.stringContaining('It was not changed') })
    expect(readFileSync(fileOf(cli), 'utf8')).toBe('{"version": 1, "serv')
  })
})

describe('auth status and logout', () => {
  it('show the source of each key and at most four characters of it', async () => {
    await login(key)
    chmodSync(fileOf(cli), 0o644)
    const environment = { OPENAI_API_KEY: `${key}-in-the-environment-1234`, GROQ_API_KEY: 'short' }
    const result = await cli.run(['auth', '--json'], { environment })
    expect(result.stderr).toContain('was readable by other users')
    expect(result.stdout + result.stderr).not.toContain('X0')
    const { providers } = JSON.parse(result.stdout)
    const of = (name: string) => providers.find((one: { provider: string }) => one.provider === name)
    expect(of('openai')).toMatchObject({
      from: { type: 'variable', name: 'OPENAI_API_KEY' },
      ends: '1234',
      isShadowed: true,
    })
    expect(of('groq')).toMatchObject({ from: { type: 'variable', name: 'GROQ_API_KEY' }, ends: null })
    expect(of('google')).toMatchObject({ from: null, ends: null, lacks: expect.stringContaining('auth login google') })
    const table = await cli.run(['auth', 'status'])
    expect(table.stdout).toMatch(/^openai +…wxyz +file /m)
  })

  it('check keys with --check, and fail if one is rejected', async () => {
    await login(key)
    const environment = { OPENAI_BASE_URL: url }
    expect(await cli.run(['auth', 'status', '--check'], { environment })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('accepted, account org-of-ada'),
    })
    const wrong = { ...environment, OPENAI_API_KEY: 'made-wrong-X0X0X0' }
    expect(await cli.run(['auth', 'status', '--check'], { environment: wrong })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('rejected this key'),
    })
  })

  it('remove a key, and name the variable that still has one', async () => {
    await login(key)
    const gone = await cli.run(['auth', 'logout', 'openai'], { environment: { OPENAI_API_KEY: key } })
    expect(gone).toMatchObject({ code: 0, stderr: expect.stringContaining('OPENAI_API_KEY is set') })
    expect(JSON.parse(readFileSync(fileOf(cli), 'utf8')).providers).toEqual({})
  })
})

describe('a key added while a server runs', () => {
  it('makes a refused prompt work, until it is removed', async () => {
    const echo = await startEchoingService([key])
    const server = cli.start(['serve', '--port', '0'], { environment: { MISTRAL_BASE_URL: echo.url } })
    try {
      await server.until('stdout', /login\?code=/)
      const prompt = () => cli.run(['run', 'say hello', '--model', 'mistral/echo', '--json'])
      const refused = await prompt()
      expect(refused.code).toBe(1)
      expect(JSON.parse(refused.stdout).error).toMatchObject({
        code: 'no_credentials',
        message: expect.stringContaining('holdfast auth login mistral'),
      })
      expect(echo.keys.size).toBe(0)

      const result = await cli.run(['auth', 'login', 'mistral', '--key-stdin'], {
        input: key,
        environment: { MISTRAL_BASE_URL: echo.url },
      })
      expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('uses the change now') })
      expect(await prompt()).toMatchObject({ code: 0, stdout: expect.stringContaining('Hello.') })

      expect((await cli.run(['auth', 'logout', 'mistral'])).code).toBe(0)
      expect(await prompt()).toMatchObject({ code: 1, stdout: expect.stringContaining('no_credentials') })
    } finally {
      server.kill('SIGTERM')
      await server.ended
      echo.close()
    }
  })
})

/** Runs the program in a pseudo-terminal and forwards its input and output. */
const pty = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
const hasPty = (() => {
  try {
    execFileSync('python3', ['-c', 'import pty'], { stdio: 'ignore' })
    return process.platform !== 'win32'
  } catch {
    return false
  }
})()

describe.runIf(hasPty)('auth login at a terminal', () => {
  function atTerminal(args: readonly string[]) {
    const child = spawn('python3', ['-c', pty, nodePath, binPath, ...args], {
      env: { ...process.env, HOLDFAST_HOME: cli.home, OPENAI_BASE_URL: url },
    })
    let screen = ''
    let look = () => {}
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
      look()
    })
    const ended = once(child, 'exit').then(([code]) => ({ code, screen }))
    const shows = (text: string) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (screen.includes(text)) resolve()
        }
        look()
      })
    return { shows, ended, type: (text: string) => child.stdin.write(text) }
  }

  it('asks for the provider and, without echo, for the key', async () => {
    const terminal = atTerminal(['auth', 'login'])
    await terminal.shows('Which provider')
    terminal.type('openai\r')
    await terminal.shows('not shown')
    terminal.type(`${key}\r`)
    const { code, screen } = await terminal.ended
    expect(code).toBe(0)
    expect(screen).toContain('It belongs to org-of-ada.')
    expect(screen).toContain('openai\r\n')
    expect(screen).not.toContain('X0')
  })

  it('is cancelled by Ctrl-C, and saves nothing', async () => {
    const terminal = atTerminal(['auth', 'login', 'openai'])
    await terminal.shows('not shown')
    terminal.type(`${key}\u0003`)
    const { code, screen } = await terminal.ended
    expect(code).toBe(130)
    expect(screen).not.toContain('X0')
    expect(existsSync(fileOf(cli))).toBe(false)
  })

  it('asks whether to save a key that could not be checked', async () => {
    service.close()
    const terminal = atTerminal(['auth', 'login', 'openai'])
    await terminal.shows('not shown')
    terminal.type(`${key}\r`)
    await terminal.shows('Save the key anyway?')
    terminal.type('y\r')
    expect(await terminal.ended).toMatchObject({ code: 0 })
    expect(readFileSync(fileOf(cli), 'utf8')).toContain(key)
  })
})
