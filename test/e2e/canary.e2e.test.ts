import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, type CliProcess, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { startInMemorySdk } from '../../packages/holdfast/src/observe/telemetry/testing/in-memory-sdk.ts'
import { type EchoingService, startEchoingService } from './echoing-service.ts'

/** Two unique keys: one in the environment, one in the file. */
const core = { environment: 'canaryenv0123456789abcdef', file: 'canaryfile9876543210fedcb' }
const keys = { environment: `gsk_${core.environment}`, file: `made-${core.file}` }

/** Matches either half of a secret, in any case, and in base64 at any offset. */
const tracesOf = (secrets: readonly string[]): readonly string[] =>
  secrets.flatMap((one) => [
    one.slice(0, 12),
    one.slice(-12),
    ...[0, 1, 2].map((before) =>
      Buffer.from(`${' '.repeat(before)}${one}`)
        .toString('base64')
        .slice(4, 28),
    ),
  ])
const keyTraces = tracesOf(Object.values(core))

function expectNoKey(where: string, text: string, traces = keyTraces): void {
  const plain = text.toLowerCase()
  for (const trace of traces)
    expect(text.includes(trace) || plain.includes(trace.toLowerCase()), `${trace} in ${where}`).toBe(false)
}

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

let service: EchoingService
beforeEach(async () => {
  service = await startEchoingService(Object.values(keys))
})
afterEach(() => service.close())

const failures = ['be rejected', 'be forbidden', 'be refused', 'fail inside', 'say garbage']

describe('a key', () => {
  let cli: Cli
  beforeEach(() => {
    cli = createCli()
  })
  afterEach(() => cli[Symbol.dispose]())

  const environment = () => ({
    GROQ_API_KEY: keys.environment,
    GROQ_BASE_URL: service.url,
    COPY_OF_IT: keys.environment,
    HOLDFAST_LOG: 'trace',
    HOLDFAST_SANDBOX: 'off', // it would hide the file of keys, and there would be nothing to mask
  })
  const credentialsFile = () => join(cli.home, 'config', 'credentials.json')

  async function serve(mirror: string): Promise<{ server: CliProcess; url: string; token: string }> {
    const server = cli.start(['serve', '--port', '0', '--mirror', mirror], { environment: environment() })
    const [, url = ''] = await server.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+)\/login\?code=\S+/)
    const token = readFileSync(join(cli.home, 'state', 'server.token'), 'utf8').trim()
    return { server, url, token }
  }

  it('appears only in requests to its own service and in its file', async () => {
    const mirror = join(cli.home, 'mirror')
    const { server, url, token } = await serve(mirror)
    const outputs: [string, string][] = []
    const run = async (...args: readonly string[]) => {
      const result = await cli.run(args)
      outputs.push([args.join(' '), result.stdout + result.stderr])
      return result
    }
    const loggedIn = await cli.run(['auth', 'login', 'mistral', '--key-stdin', '--base-url', service.url], {
      input: keys.file,
    })
    expect(loggedIn).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`The server at ${url} uses the change now`),
    })
    outputs.push(['auth login', loggedIn.stdout + loggedIn.stderr])

    const sessions: string[] = []
    for (const model of ['groq/echo', 'mistral/echo']) {
      const first = await run('run', 'say hello', '--model', model, '--json')
      const { result } = JSON.parse(first.stdout.trimEnd().split('\n').at(-1) ?? '')
      sessions.push(result.sessionId)
      // The agent prints its environment and the file of keys, once and often enough to become a blob.
      const look = `run this: env; cat ${credentialsFile()}`
      expect(await run('run', look, '-s', result.sessionId, '--yes')).toMatchObject({ code: 0 })
      const often = `run this: for n in $(seq 900); do cat ${credentialsFile()}; done`
      expect(await run('run', often, '-s', result.sessionId, '--yes', '--json')).toMatchObject({ code: 0 })
      for (const prompt of failures)
        expect([prompt, (await run('run', prompt, '-s', result.sessionId)).code]).toEqual([prompt, 1])
    }

    const exported: string[] = []
    for (const id of sessions) {
      for (const format of ['md', 'html', 'json', 'jsonl'])
        exported.push((await run('export', id, '--format', format)).stdout)
      await run('show', id, '--json')
    }
    expect(exported.join()).toContain('[key removed]') // otherwise there was no key to mask
    for (const args of [
      ['auth'],
      ['auth', 'status', '--check', '--json'],
      ['stats'],
      ['doctor'],
      ['search', 'removed', '--all'],
    ])
      await run(...args)

    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${url}${path}`, { headers, ...init })
      outputs.push([path, `${inspect([...answer.headers])}${await answer.text()}`])
      return answer.status
    }
    for (const path of ['health', 'openapi.json', 'models', 'sessions', 'nothing']) await ask(`/v1/${path}`)
    for (const id of sessions)
      for (const path of ['', '/messages', '/branches', '/usage']) await ask(`/v1/sessions/${id}${path}`)
    expect(await ask('/v1/credentials/refresh', { method: 'POST' })).toBe(200)
    const misplaced = JSON.stringify({
      workdir: cli.workdir,
      model: `groq/${keys.environment}`,
      [keys.environment]: keys.file,
    })
    expect(await ask('/v1/sessions', { method: 'POST', body: misplaced })).toBe(400)

    server.kill('SIGTERM')
    const { stdout, stderr, code } = await server.ended
    expect(code).toBe(0)
    outputs.push(['the log of the server', stdout + stderr])
    expect(stderr).toContain('"level":"')

    const alone = await cli.run(['run', 'be rejected', '--model', 'groq/echo'], { environment: environment() })
    expect(alone.code).toBe(1)
    outputs.push(['run without a server', alone.stdout + alone.stderr])

    for (const [where, text] of outputs) expectNoKey(where, text)
    const files = filesBelow(cli.home).filter((path) => path !== credentialsFile())
    expect(files.some((path) => path.startsWith(mirror))).toBe(true)
    expect(files.some((path) => path.includes('/blobs/') && statSync(path).size > 16 * 1024)).toBe(true)
    for (const path of [...files, ...filesBelow(cli.workdir)]) expectNoKey(path, readFileSync(path, 'latin1'))

    expect([...service.keys].sort()).toEqual(Object.values(keys).sort())
    for (const body of service.bodies) expectNoKey('the request to a model', body)
    expect(readFileSync(credentialsFile(), 'utf8')).toContain(keys.file)
  })
})

describe('a token of the server', () => {
  let cli: Cli
  beforeEach(() => {
    cli = createCli()
  })
  afterEach(() => cli[Symbol.dispose]())

  it('is in no event, export, answer, log or file but its own, and neither are login codes, cookies and share links', async () => {
    const configured = 'canarytoken0123456789fedcba98'
    const environment = { HOLDFAST_TOKEN: configured, HOLDFAST_LOG: 'trace', HOLDFAST_SANDBOX: 'off' }
    const server = cli.start(['serve', '--port', '0'], { environment })
    const [, url = '', firstCode = ''] = await server.until('stdout', /^(http:\/\/127\.0\.0\.1:\d+)\/login\?code=(\S+)/)
    const outputs: [string, string][] = []
    const ask = async (path: string, headers: Record<string, string>, body?: object) => {
      const answer = await fetch(`${url}${path}`, {
        redirect: 'manual',
        method: body ? 'POST' : 'GET',
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { answer, text: await answer.text() }
    }
    const look = async (...[path, headers, body]: Parameters<typeof ask>) => {
      const { answer, text } = await ask(path, headers, body)
      outputs.push([path, `${inspect([...answer.headers])}${text}`])
      return { status: answer.status, text }
    }
    const asAdmin = { authorization: `Bearer ${configured}` }
    const cookieOf = async (code: string) =>
      (await ask(`/login?code=${code}`, {})).answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const made = JSON.parse((await ask('/v1/tokens', asAdmin, { name: 'phone', role: 'driver' })).text)
    const cookie = await cookieOf(firstCode)
    const link: string = JSON.parse((await ask('/v1/login-links', asAdmin, {})).text).link
    const unused = new URL(link).searchParams.get('code') ?? ''
    const asPhone = { authorization: `Bearer ${made.secret}` }
    const asPage = { cookie, 'sec-fetch-site': 'same-origin' }

    const { session } = JSON.parse((await look('/v1/sessions', asPhone, { workdir: cli.workdir })).text)
    const at = `/v1/sessions/${session.id}`
    const share: string = JSON.parse((await ask(`${at}/share`, asAdmin, {})).text).link
    const shared = new URL(share).hash.slice(1)
    const tokenFile = join(cli.home, 'state', 'server.token')
    const printing = `run this: env; cat ${tokenFile}; tr a-z a-z < /proc/$PPID/environ`
    const prompts = [
      [printing, asPhone],
      ['say hello', asPage],
    ] as const
    for (const [index, [content, who]] of prompts.entries()) {
      await look(`${at}/commands`, who, { type: 'sendPrompt', content })
      const approve = async () => {
        await look(`${at}/commands`, who, { type: 'respondToApproval', decision: 'approve' })
      }
      const ended = await followTurns(`${url}${at}/events?after=0`, asAdmin, index + 1, approve)
      outputs.push(['the stream of events', ended])
    }
    for (const who of [asPhone, asPage, asAdmin])
      for (const path of ['', '/messages', '/usage', '/state?fields=meta']) await look(`${at}${path}`, who)
    const exported: string[] = []
    for (const format of ['md', 'html', 'json', 'jsonl'])
      exported.push((await look(`${at}/export?format=${format}`, asPage)).text)
    expect(exported.join()).toContain('[key removed]') // otherwise there was no token to mask
    for (const path of ['/v1/tokens', '/v1/access', '/v1/stats', '/v1/nothing']) await look(path, asAdmin)
    // A token in a URL does not count, and is not logged; neither is a wrong one.
    expect((await look(`/v1/sessions?token=${made.secret}`, {})).status).toBe(401)
    expect((await look('/v1/sessions', { authorization: `Bearer ${made.secret}x` })).status).toBe(401)
    for (const args of [['token', 'list'], ['show', session.id, '--json'], ['doctor'], ['stats']]) {
      const { stdout, stderr } = await cli.run(args)
      outputs.push([args.join(' '), stdout + stderr])
    }

    server.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    expect(stdout).toContain(firstCode) // the login link is what it prints
    expect(stderr).toContain('"level":"')
    outputs.push(['the log of the server', stderr])
    const [, value = ''] = cookie.split('=')
    const secrets = [configured, made.secret.replace('holdfast_', ''), shared.replace('holdfast_', '')]
    const traces = tracesOf([...secrets, firstCode, unused, value.split('.').at(-1) ?? ''])
    for (const [where, text] of outputs) expectNoKey(where, text, traces)
    const files = filesBelow(cli.home).filter((path) => path !== tokenFile)
    expect(files.length).toBeGreaterThan(1)
    for (const path of [...files, ...filesBelow(cli.workdir)]) expectNoKey(path, readFileSync(path, 'latin1'), traces)
  })
})

/** Reads the events of a session until so many turns have ended, and approves what they ask. Returns all events. */
async function followTurns(
  url: string,
  headers: Record<string, string>,
  turns: number,
  approve: () => Promise<void>,
): Promise<string> {
  const left = new AbortController()
  const { body } = await fetch(url, { headers, signal: left.signal })
  let read = ''
  const count = (type: string) => read.split(`"type":"${type}"`).length - 1
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const before = count('approval.asked')
    read += chunk
    if (count('turn.ended') >= turns) break
    if (count('approval.asked') > before) await approve()
  }
  left.abort()
  return read
}

describe('a key in a program that embeds the runtime', () => {
  let home = ''
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'hf-canary-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  it('is in no problem, span or frame', async () => {
    const sdk = startInMemorySdk()
    const problems: unknown[] = []
    const frames: unknown[] = []
    const environment = { HOLDFAST_HOME: home, GROQ_API_KEY: keys.environment, GROQ_BASE_URL: service.url }
    try {
      await using holdfast = await openHoldfast({ environment, onProblem: (problem) => problems.push(problem) })
      for (const prompt of ['say hello', ...failures]) {
        const session = await holdfast.startSession({
          workdir: home,
          model: 'groq/echo',
          notifier: () => {
            throw Object.assign(new Error(`cannot tell ${keys.environment}`), { headers: { key: keys.environment } })
          },
        })
        await session.sendPrompt(prompt)
        for await (const frame of session.subscribe({ after: 0 })) {
          frames.push(frame)
          if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
        }
      }
    } finally {
      sdk.close()
    }
    expect(problems.length).toBeGreaterThan(failures.length)
    const spans = sdk.spans()
    expect(spans.map(({ name }) => name)).toContain('chat echo')
    for (const [where, what] of [
      ['a problem', problems],
      ['a span', spans],
      ['a frame', frames],
    ] as const)
      expectNoKey(where, inspect(what, { depth: 20, maxStringLength: null, maxArrayLength: null, showHidden: true }))
  })

  it('is masked in tool output, but not in what a person wrote', async () => {
    writeFileSync(join(home, 'notes.txt'), `the key is ${keys.environment}`)
    const environment = { HOLDFAST_HOME: join(home, 'home'), GROQ_API_KEY: keys.environment, DEMO_PACE: '0' }
    await using holdfast = await openHoldfast({ environment })
    const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })
    await session.sendPrompt('read notes.txt')
    const result: string[] = []
    for await (const frame of session.subscribe({ after: 0 })) {
      result.push(JSON.stringify(frame))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    }
    expect(result.join()).toContain('the key is [key removed]')
    expectNoKey('a frame', result.join())

    await session.sendPrompt(`my key is ${keys.environment}, keep it`)
    const messages = await session.messages()
    expect(JSON.stringify(messages)).toContain(`my key is ${keys.environment}, keep it`)
  })
})
