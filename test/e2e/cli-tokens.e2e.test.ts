import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const jsonOf = (text: string) => JSON.parse(text)

async function serve(...args: readonly string[]) {
  const server = cli.start(['serve', '--port', '0', ...args])
  const [, url = ''] = await server.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+)\/login\?code=\S+/)
  const as = (token: string, path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { server, url, as }
}

describe('token', () => {
  it('lists, creates and revokes the tokens of the server of --url', async () => {
    const { url, as } = await serve()
    using far = createCli()
    const at = ['--url', url, '--token-file', join(cli.home, 'state', 'server.token')]
    const secret = (await far.run(['token', 'create', 'phone', '--role', 'driver', ...at])).stdout.trim()
    expect((await as(secret, '/v1/sessions')).status).toBe(200)
    expect(jsonOf((await far.run(['token', 'list', '--json', ...at])).stdout)).toMatchObject({
      tokens: [{ name: 'phone', role: 'driver' }],
    })
    expect((await far.run(['token', 'revoke', 'phone', ...at])).stderr).toContain('Revoked token tok_')
    expect((await as(secret, '/v1/sessions')).status).toBe(401)
    expect((await far.run(['token', 'list', '--url', url])).code).toBe(1)
  })

  it('of an admin does the daily work from another machine: share, login, open, auth, mcp, skills, agents', async () => {
    const { url } = await serve()
    using far = createCli()
    const at = ['--url', url, '--token-file', join(cli.home, 'state', 'server.token')]
    await far.run(['run', 'hello', ...at])
    const session = '@latest'
    const shared = await far.run(['share', session, ...at])
    expect(shared.stdout.startsWith(`${url}/shared#holdfast_`)).toBe(true)
    const link = (await far.run(['login', ...at])).stdout.trim()
    expect(link.startsWith(`${url}/login?code=`)).toBe(true)
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(303)
    const browser = join(far.workdir, 'browser.sh')
    writeFileSync(browser, '#!/bin/sh\nexit 0\n')
    chmodSync(browser, 0o755)
    expect((await far.run(['open', ...at], { environment: { BROWSER: browser } })).stderr).toContain(`page of ${url}`)
    expect((await far.run(['auth', 'status', ...at])).stdout).toMatch(/^PROVIDER\s+KEY/)
    expect((await far.run(['auth', 'login', 'openai', ...at])).code).toBe(2)
    expect((await far.run(['mcp', 'list', ...at])).stderr).toContain('No server is configured there')
    expect((await far.run(['mcp', 'remove', 'notes', ...at])).code).toBe(2)
    expect((await far.run(['skills', ...at])).stderr).toContain('There are no skills here')
    expect((await far.run(['agents', ...at])).stdout).toMatch(/^general\s+listed\s+built-in/m)
    for (const command of [['share', session], ['login'], ['open'], ['auth'], ['mcp'], ['skills'], ['agents']])
      expect((await far.run([...command, '--url', url])).code, command.join(' ')).toBe(1) // without a token
  })

  it('login --revoke-all ends the logins of all browsers, with and without a running server', async () => {
    const { server, url } = await serve()
    const [, port = ''] = /:(\d+)$/.exec(url) ?? []
    const logIn = async () => {
      const link = (await cli.run(['login'])).stdout.trim()
      return (await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? ''
    }
    const statusOf = async (cookie: string) =>
      (await fetch(`${url}/v1/sessions`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status
    const [first, second] = [await logIn(), await logIn()]
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
    expect((await cli.run(['login', '--revoke-all'])).stderr).toContain('Ended 2 logins of the page.')
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 401])
    expect((await cli.run(['login', '--revoke-all', '--qr'])).code).toBe(2)
    const third = await logIn()
    server.kill('SIGTERM')
    await server.ended
    expect(jsonOf((await cli.run(['login', '--revoke-all', '--json'])).stdout)).toEqual({ ended: 1 })
    const again = cli.start(['serve', '--port', port])
    await again.until('stdout', /\/login\?code=\S+/)
    expect(await statusOf(third)).toBe(401)
    again.kill('SIGTERM')
    await again.ended
    expect((await cli.run(['token', 'list'])).stderr).toContain('There are no tokens')
  })

  it('creates, lists and revokes tokens without a server, and stores only hashes', async () => {
    expect((await cli.run(['token'])).stderr).toContain('There are no tokens')
    expect(existsSync(cli.home)).toBe(false)
    const created = await cli.run(['token', 'create', 'phone', '--role', 'driver', '--expires', '30d'])
    expect(created.code).toBe(0)
    expect(created.stdout).toMatch(/^holdfast_[\w-]{43}\n$/)
    const secret = created.stdout.trim()
    const listed = await cli.run(['token', 'list'])
    expect(listed.stdout).toMatch(/^tok_\w{16}\s+phone\s+driver\s+all\s+\S+\s+never\s+20/m)
    expect(listed.stdout).not.toContain(secret)
    expect(listed.stdout).toMatch(/ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m) // local time
    expect(readFileSync(join(cli.home, 'data', 'holdfast.db'), 'latin1')).not.toContain(secret)
    expect((await cli.run(['token', 'revoke', 'phone'])).stderr).toContain('Revoked token tok_')
    expect(await cli.run(['token', 'revoke', 'phone'])).toMatchObject({ code: 1, stdout: '' })
  })

  it('creates a token for the latest session of the folder', async () => {
    expect((await cli.run(['run', 'list'])).code).toBe(0)
    const [session] = jsonOf((await cli.run(['ls', '--json'])).stdout).sessions
    const made = await cli.run(['token', 'create', 'review', '--role', 'viewer', '--session', '@latest', '--json'])
    expect(jsonOf(made.stdout)).toMatchObject({ session: session.id })
  })

  it.each([
    [['token', 'create']],
    [['token', 'create', 'a']],
    [['token', 'create', 'a', '--role', 'root']],
    [['token', 'create', 'a', '--role', 'viewer', '--expires', 'soon']],
    [['token', 'revoke']],
    [['token', 'list', 'all']],
    [['token', 'list', '--role', 'viewer']],
    [['token', 'crate', 'a']],
  ])('refuses %j', async (args) => {
    expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '' })
    expect(existsSync(cli.home)).toBe(false)
  })

  it('applies to a running server at once, and to streams of a token that is revoked', async () => {
    const { server, as } = await serve()
    const secret = (await cli.run(['token', 'create', 'desk', '--role', 'viewer'])).stdout.trim()
    const stream = await as(secret, '/v1/events')
    expect(stream.status).toBe(200)
    const text = stream.text()
    await cli.run(['token', 'revoke', 'desk'])
    expect(await text).toContain('"reason":"revoked"')
    expect((await as(secret, '/v1/sessions')).status).toBe(401)
    server.kill('SIGTERM')
    await server.ended
  })
})

describe('serve for others', () => {
  it('starts on a reachable host once there is a token, and prints a code for a phone', async () => {
    await cli.run(['token', 'create', 'phone', '--role', 'driver'])
    const { server, url } = await serve('--host', '0.0.0.0', '--qr', '--public-url', 'https://holdfast.example.com')
    const [, link = ''] = await server.until('stderr', /[▀▄█]+\n(https:\/\/holdfast\.example\.com\/login\?code=\S+)/)
    const code = new URL(link).searchParams.get('code') ?? ''
    const login = await fetch(`${url}/login?code=${code}`, { redirect: 'manual' })
    expect(login.headers.get('set-cookie')).toContain('HttpOnly')
    server.kill('SIGTERM')
    await server.ended
  })

  it('refuses a host for others with only an expired token, a code nobody can use, and wrong addresses', async () => {
    for (const args of [['--qr'], ['--public-url', 'holdfast'], ['--public-url', 'https://a.example/x']])
      expect([args, (await cli.run(['serve', '--port', '0', ...args])).code]).toEqual([args, 2])
    const wrong = await cli.run(['serve', '--port', '0', '--trusted-proxy', 'proxy.example'])
    expect(wrong).toMatchObject({ code: 1, stdout: '' })
    expect(wrong.stderr).toContain('is no address of a proxy')
  })

  it('believes a trusted proxy: cookies for HTTPS are secure, and wrong tries count for the client', async () => {
    const { server, url } = await serve('--public-url', 'https://holdfast.example.com', '--trusted-proxy', '127.0.0.1')
    const token = (await cli.run(['token', 'create', 'a', '--role', 'viewer'])).stdout.trim()
    const login = (from: string, secret: string) =>
      fetch(`${url}/v1/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from, 'x-forwarded-proto': 'https' },
        body: JSON.stringify({ token: secret }),
      })
    expect((await login('203.0.113.1', token)).headers.get('set-cookie')).toMatch(/; Secure$/)
    for (let count = 0; count < 11; count++) await login('203.0.113.1', 'guess')
    expect((await login('203.0.113.1', 'guess')).status).toBe(429)
    expect((await login('203.0.113.2', 'guess')).status).toBe(401)
    server.kill('SIGTERM')
    await server.ended
  })
})

describe('login, open and share', () => {
  it('need a running server, and say so', async () => {
    for (const args of [['login'], ['open']]) {
      const result = await cli.run(args)
      expect(result).toMatchObject({ code: 1, stdout: '' })
      expect(result.stderr).toContain('holdfast serve')
    }
  })

  it('print a fresh login link, open it without naming it to other users, and share a session', async () => {
    const { server, url, as } = await serve()
    const { stdout: link } = await cli.run(['login'])
    const logIn = (address: string) => fetch(address, { redirect: 'manual' })
    expect((await logIn(link.trim())).headers.get('set-cookie')).toContain('HttpOnly')
    expect((await logIn(link.trim())).status).toBe(401)
    expect((await cli.run(['login', '--qr'])).stderr).toContain('a phone cannot')

    const browser = join(cli.workdir, 'browser.sh')
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${join(cli.workdir, 'opened')}'\n`)
    chmodSync(browser, 0o755)
    expect((await cli.runProcess(['open'], { environment: { BROWSER: browser } })).code).toBe(0)
    const opened = readFileSync(join(cli.workdir, 'opened'), 'utf8').trim()
    expect(opened).toMatch(/^file:.*open-page\.html$/)
    const file = new URL(opened)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const [, target = ''] = /url=([^"]+)"/.exec(readFileSync(file, 'utf8')) ?? []
    expect((await logIn(target)).headers.get('set-cookie')).toContain('HttpOnly')

    const failed = await cli.runProcess(['open'], { environment: { BROWSER: join(cli.workdir, 'none') } })
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain(`${url}/login?code=`)

    await cli.run(['run', 'count to 2'])
    const shared = await cli.run(['share', '@latest', '--expires', '7d'])
    expect(shared.code).toBe(0)
    expect(shared.stderr).toContain('Only this machine can open it')
    const secret = new URL(shared.stdout.trim()).hash.slice(1)
    const { sessions } = (await (await as(secret, '/v1/sessions')).json()) as { sessions: { id: string }[] }
    expect(sessions).toHaveLength(1)
    expect(jsonOf((await cli.run(['token', 'list', '--json'])).stdout)).toMatchObject({
      tokens: [{ name: 'link', role: 'viewer', session: sessions[0]?.id }],
    })
    expect((await cli.run(['share', 'nobody-here-1'])).code).toBe(1)
    server.kill('SIGTERM')
    await server.ended
  })
})
