import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

const key = 'sk-ant-e2e-log-0123456789abcdefghij'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const isLine = (line: string) => line.startsWith('{')
const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter(isLine)
    .map((line) => JSON.parse(line))

async function serve(environment: Readonly<Record<string, string>>) {
  const server = cli.start(['serve', '--port', '0', '--no-page'], { environment })
  const [url = ''] = await server.until('stdout', /^http:\/\/127\.0\.0\.1:\d+$/m)
  const token = readFileSync(join(cli.home, 'state', 'server.token'), 'utf8').trim()
  return { server, url, headers: { authorization: `Bearer ${token}`, 'x-request-id': 'e2e-1' }, token }
}

describe('HOLDFAST_LOG', () => {
  it('is rejected by every command if it is not a level, with the valid levels', async () => {
    for (const args of [['ls'], ['run', 'hi'], ['serve', '--port', '0']]) {
      const ended = await cli.run(args, { environment: { HOLDFAST_LOG: 'inof' } })
      expect(ended).toMatchObject({ code: 2, stdout: '' })
      expect(ended.stderr).toContain(
        "HOLDFAST_LOG is off, error, warn, info, debug, trace, not 'inof'. Did you mean 'info'?",
      )
    }
  })

  it.runIf(process.platform === 'linux')('reports a full disk once, and blocks no command', async () => {
    const environment = { HOLDFAST_LOG: 'info', HOLDFAST_LOG_FILE: '/dev/full' }
    const ended = await cli.run(['run', 'count to 1'], { environment })
    expect(ended.code).toBe(0)
    expect(ended.stderr.match(/The log cannot be written/g)).toHaveLength(1)
    const { server } = await serve(environment)
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  it('logs each request with its id, and does not change other output', async () => {
    const { server, url, headers, token } = await serve({ HOLDFAST_LOG: 'info' })
    const answer = await fetch(`${url}/v1/sessions?search=hush`, { headers })
    expect(answer.headers.get('x-request-id')).toBe('e2e-1')
    await server.until('stderr', /e2e-1/)
    server.kill('SIGTERM')
    const { stderr, stdout, code } = await server.ended
    expect([code, stdout]).toEqual([0, `${url}\n`])
    expect(jsonLines(stderr)).toContainEqual(
      expect.objectContaining({ level: 'info', requestId: 'e2e-1', method: 'GET', path: '/v1/sessions', status: 200 }),
    )
    expect(stderr).not.toContain('hush')
    expect(stderr).not.toContain(token)
    expect(stderr.split('\n').filter((line) => line !== '' && !isLine(line))).toEqual([
      expect.stringMatching(/^Holdfast .* runs at/),
      'Press Ctrl-C to stop it.',
      'Stopping. Press Ctrl-C again to quit at once.',
    ])
  })

  it('defaults to warn for a server and to off for other commands', async () => {
    const { server, url, headers } = await serve({})
    await fetch(`${url}/v1/sessions`, { headers })
    server.kill('SIGTERM')
    expect(jsonLines((await server.ended).stderr)).toEqual([])
    const ran = await cli.run(['run', 'hi'])
    expect([ran.code, jsonLines(ran.stderr)]).toEqual([0, []])
  })

  it('writes to a private file, completely before the command ends', async () => {
    const file = join(cli.workdir, 'holdfast.log')
    const environment = { HOLDFAST_LOG: 'debug', HOLDFAST_LOG_FILE: file }
    const ran = await cli.run(['run', 'list the files here'], { environment })
    expect([ran.code, jsonLines(ran.stderr)]).toEqual([0, []])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const messages = jsonLines(readFileSync(file, 'utf8')).map(({ msg }) => msg)
    expect(messages).toContain('tool call requested')
    expect(messages.at(-1)).toBe('turn ended')
    const lost = await cli.run(['run', 'hi'], { environment: { ...environment, HOLDFAST_LOG_FILE: cli.workdir } })
    expect(lost.code).toBe(1)
    expect(lost.stderr).toContain('HOLDFAST_LOG_FILE')
  })
})

describe('a process with an uncaught error', () => {
  /** Makes the program throw on request. */
  const breaking = (how: string) => {
    const script = `process.on('SIGUSR2', () => {
      const secret = process.env.ANTHROPIC_API_KEY
      const error = Object.assign(new Error('boom ' + secret), { headers: { authorization: 'Bearer ' + secret } })
      ${how}
    })`
    return `--import=data:text/javascript,${encodeURIComponent(script)}`
  }

  it.each([
    ['a throw', 'throw error'],
    ['a rejection', 'Promise.reject(error)'],
  ])('such as %s reports it, also in its log, and masks keys', async (_, how) => {
    const file = join(cli.workdir, 'crash.log')
    const { server } = await serve({ ANTHROPIC_API_KEY: key, HOLDFAST_LOG_FILE: file, NODE_OPTIONS: breaking(how) })
    server.kill('SIGUSR2')
    const { code, stdout, stderr } = await server.ended
    expect(code).toBe(1)
    expect(stderr).toContain('please report it')
    expect(stderr).toContain('boom')
    const log = readFileSync(file, 'utf8')
    expect(jsonLines(log)).toMatchObject([
      { level: 'error', msg: 'crash', err: { message: expect.stringContaining('boom') } },
    ])
    for (const text of [stdout, stderr, log]) expect(text).not.toContain(key)
  })
})
