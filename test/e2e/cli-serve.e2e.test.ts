import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockHome } from '../../packages/holdfast/src/cli/connect/server-file.ts'
import { type Cli, type CliProcess, createCli, startPath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { findHome } from '../../packages/holdfast/src/system/home.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const serverFileOf = ({ home }: Cli) => join(home, 'state', 'server.json')
const jsonOf = (text: string) => JSON.parse(text)
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? ''

async function serve(
  environment: Readonly<Record<string, string>> = {},
): Promise<{ server: CliProcess; url: string; link: string }> {
  const server = cli.start(['serve', '--port', '0'], { environment })
  const [link = '', url = ''] = await server.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+)\/login\?code=\S+/)
  return { server, url, link }
}

describe('serve', () => {
  it('login also prints the link for other machines, if there is a public address', async () => {
    using own = createCli()
    const served = own.start(['serve', '--port', '0', '--public-url', 'https://holdfast.example.com'])
    await served.until('stdout', /\/login\?code=\S+/)
    const { stdout, stderr } = await own.run(['login'])
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login\?code=\S+\n$/)
    expect(stderr).toMatch(/From another machine:\nhttps:\/\/holdfast\.example\.com\/login\?code=\S+\n/)
    served.kill('SIGTERM')
    await served.ended
  })

  it('prints only a login link on standard output, which works once', async () => {
    const { server, link } = await serve()
    const login = await fetch(link, { redirect: 'manual' })
    expect(login.headers.get('set-cookie')).toContain('HttpOnly')
    expect((await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull()
    server.kill('SIGTERM')
    expect((await server.ended).stdout).toBe(`${link}\n`)
  })

  it('writes server.json and its token while it runs', async () => {
    const { server, url } = await serve()
    const file = jsonOf(readFileSync(serverFileOf(cli), 'utf8'))
    const store = `sqlite:${join(cli.home, 'data', 'holdfast.db')}`
    expect(file).toEqual({ url, pid: server.pid, store, tokenFile: join(cli.home, 'state', 'server.token') })
    expect(statSync(serverFileOf(cli)).mode & 0o777).toBe(0o600)
    expect(statSync(file.tokenFile).mode & 0o777).toBe(0o600)
    const token = readFileSync(file.tokenFile, 'utf8').trim()
    expect(token.length).toBeGreaterThanOrEqual(22)
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401)
    expect((await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    server.kill('SIGINT')
    expect((await server.ended).code).toBe(0)
    expect(existsSync(serverFileOf(cli))).toBe(false)
    expect(existsSync(file.tokenFile)).toBe(false)
  })

  it.each([[['serve', '--port', '0', '--no-page']], [['--port', '0', '--no-page']]])(
    'is what npm start starts, given %j',
    async (args) => {
      const server = cli.start(args, { script: startPath })
      const [url] = await server.until('stdout', /^http:\/\/127\.0\.0\.1:\d+$/m)
      expect((await fetch(`${url}/v1/health`)).status).toBe(200)
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    },
  )

  it('names a copy of the store that was saved when it lost its file', async () => {
    const first = await serve()
    expect(jsonOf(await (await fetch(`${first.url}/v1/health`)).text())).not.toHaveProperty('savedCopies')
    first.server.kill('SIGTERM')
    await first.server.ended
    const store = join(cli.home, 'data', 'holdfast.db')
    copyFileSync(store, `${store}.recovered-1`)
    const { server, url } = await serve()
    expect(jsonOf(await (await fetch(`${url}/v1/health`)).text())).toMatchObject({ status: 'ok', savedCopies: 1 })
    const listed = await cli.run(['ls', '--all'])
    expect(listed.stderr).toContain(`${store}.recovered-1`)
    server.kill('SIGTERM')
    expect((await server.ended).stderr).toContain(`${store}.recovered-1`)
  })

  it('names a command that puts back a store that was removed while it ran', async () => {
    const { server } = await serve()
    await cli.run(['run', 'list'])
    const store = join(cli.home, 'data', 'holdfast.db')
    rmSync(store)
    const refused = await cli.run(['run', 'list'])
    const refusedLater = await cli.run(['run', 'list'])
    expect([refused.code, refusedLater.code]).toEqual([1, 1])
    server.kill('SIGTERM')
    await server.ended
    const again = await cli.start(['serve', '--port', '0']).ended
    for (const { stderr } of [refused, refusedLater, again]) {
      const [, words = ''] = /run holdfast (.+?) to put them back/i.exec(stderr) ?? []
      expect(words.split(' ')).toEqual(['doctor', '--repair', '--store', `sqlite:${store}`])
    }
    expect(await cli.run(['doctor', '--repair', '--store', `sqlite:${store}`])).toMatchObject({ code: 0 })
    const { server: last } = await serve()
    expect(jsonOf((await cli.run(['ls', '--all', '--json'])).stdout).sessions).toHaveLength(1)
    last.kill('SIGTERM')
    expect((await last.ended).code).toBe(0)
  })

  it('refuses to listen for others without a token', async () => {
    const refused = await cli.run(['serve', '--host', '0.0.0.0', '--port', '0'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('there is no token')
    expect(existsSync(cli.home)).toBe(false)
    const weak = await cli.run(['serve', '--host', '0.0.0.0'], { environment: { HOLDFAST_TOKEN: 'short' } })
    expect(weak.code).toBe(2)
  })

  it('refuses a port in use, and a second server of the same home', async () => {
    const { server, url } = await serve()
    using other = createCli()
    const busy = await other.run(['serve', '--port', new URL(url).port])
    expect(busy).toMatchObject({ code: 1, stdout: '' })
    expect(busy.stderr).toContain('the port is taken')
    expect(existsSync(serverFileOf(other))).toBe(false)
    const second = await cli.run(['serve', '--port', '0'])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`already runs at ${url} (process ${server.pid})`)
    expect(existsSync(serverFileOf(cli))).toBe(true)
  })

  it('starts once when several are started at the same moment; the others say where it is', async () => {
    const all = Array.from({ length: 4 }, () => cli.start(['serve', '--port', '0', '--no-page']))
    const ended = all.map(async (server) => ({ server, ...(await server.ended) }))
    const losers: Awaited<(typeof ended)[number]>[] = []
    const left = new Set(ended)
    while (losers.length < 3) {
      const [loser, promise] = await Promise.race([...left].map(async (one) => [await one, one] as const))
      left.delete(promise)
      losers.push(loser)
    }
    const { url, pid } = jsonOf(readFileSync(serverFileOf(cli), 'utf8'))
    expect(all.filter((server) => losers.every((loser) => loser.server !== server)).map((one) => one.pid)).toEqual([
      pid,
    ])
    for (const { code, stdout, stderr } of losers) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`already runs at ${url} (process ${pid})`)
    }
  })

  it('starts if the one that was started before it gives up', async () => {
    const lock = lockHome(findHome({ HOLDFAST_HOME: cli.home }))
    const server = cli.start(['serve', '--port', '0', '--no-page'])
    await server.until('stderr', /Waiting for it/)
    lock?.release()
    await server.until('stdout', /^http/)
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  it('starts although a killed server left its files', async () => {
    const { server } = await serve()
    server.kill('SIGKILL')
    await server.ended
    expect(existsSync(serverFileOf(cli))).toBe(true)
    expect((await cli.run(['run', 'count to 2'])).stdout).toBe('1, 2.\n')
    const next = await serve()
    expect(jsonOf(readFileSync(serverFileOf(cli), 'utf8')).pid).toBe(next.server.pid)
  })

  it('is ended by a second signal, even if its event loop is blocked', async () => {
    const block = `process.once('SIGTERM', () => setImmediate(() => {
      process._rawDebug('blocked')
      for (;;);
    }))`
    const preload = `--import data:text/javascript,${encodeURIComponent(block)}`
    const { server } = await serve({ NODE_OPTIONS: preload })
    server.kill('SIGTERM')
    await server.until('stderr', /blocked/)
    server.kill('SIGTERM')
    expect((await server.ended).signal).toBe('SIGTERM')
  })

  it('stops during a turn without waiting for its end, and records it as interrupted', async () => {
    const { server } = await serve({ DEMO_PACE: '0.1' })
    const client = cli.start(['run', 'count to 5000'])
    await client.until('stdout', /3, /)
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
    await client.until('stderr', /Cannot reach the server/)
    client.kill('SIGINT')
    expect((await client.ended).code).toBe(130)
    const { session, messages } = jsonOf((await cli.run(['show', '@latest', '--json'])).stdout)
    expect(session.status).toBe('idle')
    expect(messages.findLast(({ kind }: { kind: string }) => kind === 'assistant')).toMatchObject({ interrupted: true })
  })
})

describe('with a server running', () => {
  it('run uses it, and aborts its turn on Ctrl-C', async () => {
    await serve({ DEMO_PACE: '0.1' })
    const client = cli.start(['run', 'count to 5000'])
    await client.until('stdout', /3, /)
    const [, handle = ''] = await client.until('stderr', /^session (\S+),/)
    const locked = await cli.run(['tell', handle, 'enterPlan'])
    expect(locked.code).toBe(0) // it went through the server, since no other process could open the session
    client.kill('SIGINT')
    const { code, stdout } = await client.ended
    expect(code).toBe(130)
    expect(stdout).toMatch(/^1, 2, 3, /)
    expect(jsonOf((await cli.run(['show', handle, '--json'])).stdout).session.status).toBe('plan')
  })

  it('ls and the server agree on the model and provider of a session', async () => {
    const { url, link } = await serve()
    await cli.run(['run', 'count to 2'])
    const login = await fetch(link, { redirect: 'manual' })
    const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
    const overHttp = await (await fetch(`${url}/v1/sessions`, { headers: { cookie } })).json()
    const printed = jsonOf((await cli.run(['ls', '--json'])).stdout)
    for (const { sessions } of [overHttp, printed])
      expect(sessions).toMatchObject([{ title: 'count to 2', model: 'demo/agent', provider: 'demo' }])
  })

  it('a second Ctrl-C ends run at once, even if the server does not answer', async () => {
    const { server } = await serve({ DEMO_PACE: '0.1' })
    const client = cli.start(['run', 'count to 5000'])
    await client.until('stdout', /3, /)
    server.kill('SIGSTOP')
    client.kill('SIGINT')
    await client.until('stderr', /Ctrl-C again/)
    client.kill('SIGINT')
    expect((await client.ended).signal).toBe('SIGINT')
  })

  it('tell sends prompts and approvals, and prints errors', async () => {
    await serve()
    const done = await cli.run(['run', 'count to 2', '--json'])
    const { sessionId } = jsonOf(lastLine(done.stdout)).result
    const sent = await cli.run(['tell', sessionId, 'sendPrompt', 'content=write c.txt: hello', '--json'])
    expect(jsonOf(sent.stdout)).toMatchObject({ result: {} })
    const watcher = cli.start(['run', 'count to 4', '-s', sessionId, '--yes'])
    expect((await watcher.ended).code).toBe(0)
    expect(readFileSync(join(cli.workdir, 'c.txt'), 'utf8').trim()).toBe('hello')
    const nothing = await cli.run(['tell', sessionId, 'respondToApproval', 'decision=approve', '--json'])
    expect(nothing.code).toBe(1)
    expect(jsonOf(nothing.stdout)).toMatchObject({ error: { code: 'no_pending_approval' } })
    expect((await cli.run(['tell', 'calm-harbor-1', 'abort'])).code).toBe(1)
  })

  it('tell shows the turn that goes on after an answer, until it ends or asks again', async () => {
    await serve()
    await cli.run(['run', 'count to 2'])
    await cli.run(['tell', '@latest', 'sendPrompt', 'content=write e.txt: one\nwrite f.txt: two'])
    const answer = ['tell', '@latest', 'respondToApproval', 'decision=approve']
    const first = await cli.run(answer)
    expect(first.stderr).toMatch(/^Accepted \(seq \d+\)\.\n[\s\S]*Approval \d+ is open\. To answer: holdfast tell/m)
    expect(first.stderr).toContain('✓ write_file')
    expect(first.stdout).toBe('')
    const second = await cli.run(answer)
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('created f.txt') })

    await cli.run(['tell', '@latest', 'sendPrompt', 'content=write g.txt: three'])
    const third = await cli.run([...answer, '--no-wait'])
    expect(third.stdout).toMatch(/^Accepted \(seq \d+\)\.\n$/)
  })
})

describe('without a server', () => {
  it('tell runs the turn itself, and leaves an approval open until it is answered', async () => {
    await cli.run(['run', 'count to 2'])
    const asked = await cli.run(['tell', '@latest', 'sendPrompt', 'content=write d.txt: hello'])
    expect(asked.code).toBe(0)
    expect(asked.stdout).toBe('I will use write_file.\n')
    const [, approval = ''] = /write_file asks to run[\s\S]*Approval (\d+) is open\./.exec(asked.stderr) ?? []
    expect(existsSync(join(cli.workdir, 'd.txt'))).toBe(false)

    const refused = await cli.run(['run', 'hi', '-s', '@latest'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('waits for an approval')

    const answered = await cli.run(['tell', '@latest', 'respondToApproval', 'decision=approve', `approval=${approval}`])
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('created d.txt') })
    expect(answered.stderr).toMatch(/^Accepted \(seq \d+\)\.$/m)
    expect(readFileSync(join(cli.workdir, 'd.txt'), 'utf8').trim()).toBe('hello')
    expect(jsonOf((await cli.run(['ls', '--json'])).stdout).sessions[0].status).toBe('idle')
  })

  it('tell fails if the turn it started fails', async () => {
    await cli.run(['run', 'count to 2'])
    const failed = await cli.run(['tell', '@latest', 'sendPrompt', 'content=fail rejected_key'])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('rejected key')
    expect((await cli.run(['tell', '@latest', 'abort'])).code).toBe(0)
  })
})

describe('run with a server', () => {
  it('leaves no session behind after /help, so @latest stays what it was', async () => {
    const { server } = await serve()
    await cli.run(['run', 'hello'])
    expect(await cli.run(['run', '/help'])).toMatchObject({ code: 0 })
    expect(await cli.run(['tell', '@latest', 'rename', 'title=Kept'])).toMatchObject({ code: 0 }) // asks the server
    expect((await cli.run(['ls'])).stdout).toContain('Kept')
    server.kill('SIGTERM')
    await server.ended
  })

  it('says where the result of a subagent in the background will be', async () => {
    const { server } = await serve({ DEMO_PACE: '1' })
    const { stderr } = await cli.run(['run', 'delegate in background count to 5000'])
    expect(stderr).toMatch(
      /\S+ goes on in the background\. To see the result: holdfast attach \S+, or later holdfast show/,
    )
    server.kill('SIGTERM')
    await server.ended
  })
})
