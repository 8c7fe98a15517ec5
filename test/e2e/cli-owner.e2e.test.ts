import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Cli,
  type CliProcess,
  type CliResult,
  createCli,
} from '../../packages/holdfast/src/cli/testing/cli-process.ts'

/** Leaves with Ctrl-C: with one if nothing runs, with a second one if the first aborted a turn. */
async function leave(attached: CliProcess): Promise<CliResult> {
  attached.kill('SIGINT')
  const aborting = attached.until('stderr', /Aborting/).then(
    () => attached.kill('SIGINT'),
    () => undefined, // it has left
  )
  await Promise.race([aborting, attached.ended])
  return attached.ended
}

describe('without a server', () => {
  it('a second terminal reaches the session in the process that runs it, and goes on when that one is killed', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const owner = cli.start(['run', '-s', '@latest', 'count to 5000'], { environment: { DEMO_PACE: '1' } })
    await owner.until('stdout', /1, 2/)
    const second = cli.start(['attach', '@latest', '--view'])
    await second.until('stderr', /Nobody drives this session/)
    await second.until('stdout', /\d, \d/)
    expect(await cli.runProcess(['tell', '@latest', 'rename', 'title=Shared'])).toMatchObject({ code: 0 })
    expect((await cli.run(['ls', '--running'])).stdout).toContain('Shared')
    owner.kill('SIGKILL')
    await second.until('stderr', /interrupted/)
    const asked = await cli.runProcess(['run', '-s', '@latest', 'count to 2'])
    expect(asked).toMatchObject({ code: 0 })
    await second.until('stderr', /> count to 2/)
    expect(await leave(second)).toMatchObject({ code: 0 })
  })

  it('run waits for a turn that another terminal started in its process', async () => {
    using cli = createCli()
    const first = 'run while [ ! -e go ]; do sleep 0.02; done'
    const owner = cli.start(['run', '--yes', first], { environment: { DEMO_PACE: '0.2' } })
    await owner.until('stderr', /Approved by --yes/)
    expect(await cli.runProcess(['tell', '@latest', 'queueFollowUp', 'content=count to 90'])).toMatchObject({ code: 0 })
    writeFileSync(join(cli.workdir, 'go'), '')
    const { code, stderr } = await owner.ended
    expect([code, stderr]).toEqual([0, expect.stringContaining('Waiting for a turn that another terminal started')])
    expect((await cli.run(['show', '@latest'])).stdout).toMatch(/count to 90[\s\S]*88, 89, 90/)
  })

  it('attach sends typed lines as prompts and prints the answers', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const attached = cli.start(['attach', '@latest'], { input: 'count to 3\n' })
    await attached.until('stderr', /You drive this session/)
    await attached.until('stdout', /1, 2, 3/)
    expect(await leave(attached)).toMatchObject({ code: 0 })
  })

  it('attach leaves at the end of piped input, once the turn is over', async () => {
    using cli = createCli()
    await cli.runProcess(['run', 'hello'])
    const sent = await cli.runProcess(['attach', '@latest'], { input: 'count to 3\n' })
    expect(sent).toMatchObject({ code: 0 })
    expect(sent.stdout).toContain('1, 2, 3')
    expect(await cli.runProcess(['attach', '@latest'], { input: '' })).toMatchObject({ code: 0 })
  })

  it('attach tells a viewer token that it may only watch', async () => {
    using cli = createCli()
    const server = cli.start(['serve', '--port', '0', '--no-page'])
    const [, url = ''] = await server.until('stderr', /(http:\/\/127\.0\.0\.1:\d+)/)
    await cli.run(['run', 'hello'])
    const secret = (await cli.run(['token', 'create', 'vic', '--role', 'viewer'])).stdout.trim()
    const environment = { HOLDFAST_TOKEN: secret }
    const watched = await cli.runProcess(['attach', '@latest', '--url', url], { input: 'hello\n', environment })
    expect(watched).toMatchObject({ code: 0 })
    expect(watched.stderr).toContain('This token may only watch.')
    expect(watched.stderr).not.toContain('/drive takes control')
    expect(watched.stderr).toContain('needs the role driver')
  })

  it('attach shows what a subagent asks, and answers it', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const attached = cli.start(['attach', '@latest'], { input: 'delegate write c.txt: hello\n', isInputOpen: true })
    await attached.until('stderr', /\? subagent \S+: write_file asks to run: c\.txt[^?]*\+hello[^?]*Type y to approve/)
    attached.write('y\n')
    await attached.until('stdout', /subagent \(write c\.txt: hello\) returned/)
    expect(readFileSync(join(cli.workdir, 'c.txt'), 'utf8')).toBe('hello')
    const listed = await cli.run(['agents', '@latest'])
    expect(listed.stdout).toMatch(
      /HANDLE +STATUS +KIND .*\n\S+ +completed +general +waited for +demo\/agent .* write c\.txt/,
    )
    const [, child = ''] = /\n(\S+) +completed/.exec(listed.stdout) ?? []
    expect((await cli.run(['show', child])).stdout).toMatch(/ · subagent \(general\) of ses_\w+ · /)
    expect((await cli.run(['tools'])).stdout).toMatch(/\nsubagent +nothing +run/)
    expect((await leave(attached)).stderr).not.toContain('Queued')
  })

  it('attach asks for the fields of a question of a server', async () => {
    using cli = createCli()
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
    await cli.run(['mcp', 'add', 'every', '--', process.execPath, join(manifest, '..', 'dist', 'index.js')])
    await cli.run(['permissions', 'add', 'allow', 'mcp__every__trigger-elicitation-request'])
    await cli.run(['run', 'hello'])
    const input = 'call mcp__every__trigger-elicitation-request\n'
    const attached = cli.start(['attach', '@latest'], { input, isInputOpen: true })
    await attached.until('stderr', /\? every: Please provide inputs[\s\S]*Type y to answer, or n to decline/)
    attached.write('y\n')
    await attached.until('stderr', /\/cancel gives no answer\.\n {2}String[^\n]*:\n/)
    attached.write('Ada\n')
    await attached.until('stderr', /yes or no[^\n]*:\n/)
    attached.write('perhaps\n') // no boolean: the field is asked again
    await attached.until('stderr', /(yes or no[^\n]*:\n)[\s\S]*yes or no[^\n]*:\n/)
    attached.write('\n'.repeat(20)) // all other fields may be left out
    await attached.until('stdout', /Ada/)
    expect(await leave(attached)).toMatchObject({ code: 0 })
  })

  it('attach leaves at once when its terminal is closed, also during a turn', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const options = { input: 'count to 5000\n', environment: { DEMO_PACE: '1' } }
    const attached = cli.start(['attach', '@latest'], options)
    await attached.until('stdout', /1, 2/)
    attached.kill('SIGHUP')
    expect(await attached.ended).toMatchObject({ code: 0 })
  })

  it('attach runs typed slash commands', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const attached = cli.start(['attach', '@latest', '--json'], { input: '/plan\n' })
    await attached.until('stdout', /"type":"settings.changed"[^\n]*"mode":"plan"/)
    expect(await leave(attached)).toMatchObject({ code: 0 })
  })

  it('attach --json prints frames', async () => {
    using cli = createCli()
    await cli.run(['run', 'hello'])
    const attached = cli.start(['attach', '@latest', '--view', '--json'])
    const [first = ''] = await attached.until('stdout', /^.*\n/)
    expect(JSON.parse(first)).toMatchObject({ type: 'snapshot', seq: expect.any(Number) })
    await leave(attached)
  })
})

describe('with a server', () => {
  let cli: Cli
  let server: CliProcess
  let url = ''
  beforeAll(async () => {
    cli = createCli()
    server = cli.start(['serve', '--port', '0', '--json'])
    const [line = ''] = await server.until('stdout', /^\{.*\}\n/)
    url = (JSON.parse(line) as { readonly url: string }).url
    await cli.run(['run', 'list the files here'])
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    await server.ended
    cli[Symbol.dispose]()
  })

  it('attach goes on with the next server of the home, which has another address', async () => {
    using own = createCli()
    const serve = async () => {
      const started = own.start(['serve', '--port', '0', '--json'])
      await started.until('stdout', /^\{.*\}\n/)
      return started
    }
    const first = await serve()
    await own.run(['run', 'hello'])
    const attached = own.start(['attach', '@latest', '--view'])
    await attached.until('stderr', /Nobody drives this session/)
    first.kill('SIGKILL')
    await attached.until('stderr', /Cannot reach the server; retrying/)
    const second = await serve()
    await attached.until('stderr', /Connected again/)
    expect(await own.runProcess(['run', '-s', '@latest', 'count to 2'])).toMatchObject({ code: 0 })
    await attached.until('stderr', /> count to 2/)
    expect(await leave(attached)).toMatchObject({ code: 0 })
    second.kill('SIGTERM')
    await second.ended
  })

  it('a second serve says where the first is, and ends with exit code 1', async () => {
    const second = await cli.runProcess(['serve', '--json'])
    expect(second).toMatchObject({ code: 1 })
    expect(second.stderr).toContain(url)
    expect(JSON.parse(second.stdout)).toMatchObject({ error: { code: 'unreachable', details: { url } } })
  })

  it.each([
    [['ls', '--all']],
    [['show', '@latest']],
    [['search', 'files']],
    [['branches', '@latest']],
    [['files', '@latest']],
    [['diff', '@latest']],
    [['boundary', '@latest']],
    [['shells', '@latest']],
    [['agents', '@latest']],
    [['export', '@latest']],
    [['stats']],
    [['skills', '--session', '@latest']],
    [['models']],
    [['trash']],
    [['permissions']],
    [['trust']],
    [['hooks']],
    [['tools']],
    [['tools', '@latest']],
  ])('%s answers the same as the store of this home', async (args) => {
    const token = join(mkdtempSync(join(tmpdir(), 'hf-token-')), 'token')
    writeFileSync(token, await readToken(cli))
    const far = await cli.run([...args, '--url', url, '--token-file', token, '--json'])
    expect(far).toMatchObject({ code: 0 })
    const near = await cli.run([...args, '--json'])
    const { asOf, ...known } = JSON.parse(near.stdout) as { readonly asOf?: unknown } // the server does not say how old prices are
    expect(JSON.parse(far.stdout)).toEqual(known)
  })

  it('a wrong token is refused', async () => {
    const refused = await cli.run(['ls', '--url', url, '--json'], { environment: { HOLDFAST_TOKEN: 'x'.repeat(30) } })
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'unauthorized' } })
  })
})

async function readToken({ home }: Cli): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(join(home, 'state', 'server.token'), 'utf8')
}
