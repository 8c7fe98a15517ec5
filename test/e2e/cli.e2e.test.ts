import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  binPath,
  type Cli,
  createCli,
  nodePath,
  startPath,
} from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const linesOf = (text: string) => text.trimEnd().split('\n')
const jsonOf = (text: string) => JSON.parse(text)
const storeOf = ({ home }: Cli) => join(home, 'data', 'holdfast.db')

/** Counts the sessions of the store, including empty ones, which no list has. */
function countSessions(): number {
  const database = new DatabaseSync(storeOf(cli), { readOnly: true })
  try {
    return Number(database.prepare('select count(*) as count from session').get()?.['count'])
  } finally {
    database.close()
  }
}

describe('the program', () => {
  it('prints its version and its help', async () => {
    const { version } = JSON.parse(readFileSync(join(dirname(binPath), '..', 'package.json'), 'utf8'))
    expect(await cli.runProcess(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    const help = await cli.runProcess(['--help'])
    expect(help.code).toBe(0)
    for (const name of ['run', 'ls', 'show', 'export', 'tell', 'serve']) expect(help.stdout).toContain(`\n  ${name}`)
    expect((await cli.runProcess([])).stdout).toBe(help.stdout)
    const about = await cli.runProcess(['help', 'export'])
    expect(about.stdout).toContain('--force')
    expect((await cli.runProcess(['export', '--help'])).stdout).toBe(about.stdout)
  })

  it.each([
    [['lss'], "Unknown command 'lss'. Did you mean 'ls'?"],
    [['resume'], "Unknown command 'resume'. Did you mean 'holdfast -r'?"],
    [['delete'], "Unknown command 'delete'. Did you mean 'holdfast rm'?"],
    [['help', 'exprot'], "Unknown command 'exprot'. Did you mean 'export'?"],
    [['--verison'], "Unknown flag '--verison'. Did you mean '--version'?"],
    [['ls', '--jsno'], "ls has no flag '--jsno'. Did you mean '--json'?"],
    [['show'], 'show needs <session>: holdfast show <session>.'],
    [['ls', '--limit', 'many'], "--limit must be a whole number from 1 to 1000000, not 'many'."],
    [['ls', '--cursor', 'xx'], `--cursor must be "next" of an earlier list, not 'xx'.`],
    [['tell', '@latest', 'sendPrompt'], 'sendPrompt needs content: content=….'],
    [['branch', '@latest'], 'branch needs <turn>: holdfast branch <session> <turn>.'],
    [['branch', '@latest', 'two'], "<turn> must be the number of a turn, from 0, not 'two'."],
    [['fork', '@latest', '--at', 'x'], "--at must be a whole number from 0 to 999999999, not 'x'."],
    [['tell', '@latest', 'claimDriver'], 'tell cannot send claimDriver. Use the page or an attached client.'],
    [['tell', '@latest', 'branchAt'], 'branchAt needs turn: turn=….'],
    [['run', 'hi', '--model', 'claude'], "--model must be provider/model, for example demo/agent, not 'claude'."],
    [['run', 'hi', '--yes', '--no'], 'Use either --yes or --no, not both.'],
    [['export', 'calm-harbor-12', '--format', 'pdf'], "--format must be md, html, json or jsonl, not 'pdf'."],
    [['serve', '--port', '70000'], "--port must be a whole number from 0 to 65535, not '70000'."],
    [['tell', 'calm-harbor-12', 'sendPromt'], "There is no command sendPromt. Did you mean 'sendPrompt'?"],
  ])('rejects %j with exit code 2, and creates nothing', async (args, message) => {
    expect(await cli.runProcess(args)).toMatchObject({ code: 2, stdout: '', stderr: `${message}\n` })
    expect(existsSync(cli.home)).toBe(false)
  })

  it('prints errors as JSON', async () => {
    const { code, stdout, stderr } = await cli.runProcess(['show', 'calm-harbor-12', '--json'])
    expect(code).toBe(1)
    expect(jsonOf(stdout)).toEqual({
      error: {
        code: 'session_not_found',
        message: 'There is no session calm-harbor-12. List the sessions with holdfast ls.',
        details: { name: 'calm-harbor-12' },
      },
    })
    expect(stderr).toBe('There is no session calm-harbor-12. List the sessions with holdfast ls.\n')
  })

  async function expectBadName(args: readonly string[]) {
    const { code, stdout, stderr } = await cli.runProcess([...args, '--json'])
    expect(code).toBe(1)
    expect(jsonOf(stdout)).toMatchObject({ error: { code: 'bad_id' } })
    expect(stderr).not.toContain('\u001b')
    expect(existsSync(cli.home)).toBe(false)
  }

  it.each(['..%2f..%2fetc', '/etc/passwd', 'CON', '.', '__proto__', 'ses_', 'x'.repeat(300), 'a\u001b[2Jb'])(
    'rejects the session name %j, and creates nothing',
    (name) => expectBadName(['show', name]),
  )

  it.each([
    ['show', '../x'],
    ['export', '../x'],
    ['tell', '../x', 'abort'],
    ['branch', '../x', '0'],
    ['branches', '../x'],
    ['fork', '../x'],
    ['run', 'hi', '-s', '../x'],
  ])('rejects a bad session name in %s, and creates nothing', (...args) => expectBadName(args))

  it('rejects a malformed session name and suggests a similar one', async () => {
    for (const args of [
      ['show', '@lates'],
      ['tell', '@lates', 'abort'],
    ]) {
      const { code, stderr } = await cli.run(args)
      expect({ code, stderr }).toEqual({ code: 1, stderr: "'@lates' is not a session name. Did you mean '@latest'?\n" })
    }
    expect((await cli.run(['show', '../../etc/passwd'])).stderr).toMatch(
      /^'..\/..\/etc\/passwd' is not a session name\. /,
    )
  })

  it('starts in a home it cannot write to', async () => {
    const running = cli.start(['--version'], {
      environment: { HOME: '/proc', XDG_CACHE_HOME: '', NODE_COMPILE_CACHE: '' },
    })
    const stuck = setTimeout(() => running.kill('SIGKILL'), 20_000) // a recursive mkdir there never returns
    expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    clearTimeout(stuck)
  })

  it('reports which part of its home is not a directory', async () => {
    const file = join(cli.workdir, 'a-file')
    writeFileSync(file, '')
    const { code, stderr } = await cli.run(['run', 'list'], { environment: { HOLDFAST_HOME: file } })
    expect(code).toBe(1)
    expect(stderr).toBe(`The store at ${file}/data/holdfast.db cannot be used: ${file} is not a directory.\n`)
  })

  it('continues an interrupted answer of the demo', async () => {
    await cli.run(['run', 'fail cut'])
    expect((await cli.run(['tell', '@latest', 'continue'])).code).toBe(0)
    const { stdout } = await cli.run(['show', '@latest'])
    expect(stdout).toContain('this is the rest of it')
    expect(stdout).not.toContain('I do not understand')
  })

  it('runs any command through npm start, without a writable home', async () => {
    const environment = { HOME: '/dev/null', XDG_CACHE_HOME: '' }
    const { code, stdout } = await cli.runProcess(['run', 'list the files here'], { script: startPath, environment })
    expect(code).toBe(0)
    expect(stdout).toContain('list_directory')
  })
})

describe('run', () => {
  it('prints the answer on standard output and the rest on standard error', async () => {
    writeFileSync(join(cli.workdir, 'a.txt'), 'hi')
    const { code, stdout, stderr } = await cli.runProcess(['run', 'list the files here'])
    expect(code).toBe(0)
    expect(stdout).toContain('a.txt')
    expect(stdout).not.toContain('✓')
    expect(stderr).toMatch(/^session [a-z]+-[a-z]+-\d+, demo\/agent\n/)
    expect(stderr).toContain('→ list_directory {"path":"."}\n✓ list_directory')
  })

  it('has the name new for a prompt in a new session, which takes no session', async () => {
    await cli.run(['run', 'count to 2'])
    expect(await cli.run(['new', 'count to 3'])).toMatchObject({ code: 0, stdout: '1, 2, 3.\n' })
    expect(JSON.parse((await cli.run(['ls', '--json'])).stdout).sessions).toHaveLength(2)
    expect(await cli.run(['new', 'hi', '-c'])).toMatchObject({ code: 2 })
    expect(await cli.run(['new'])).toMatchObject({ code: 2, stderr: 'new needs <prompt>: holdfast new <prompt>.\n' })
  })

  it('prints frames as lines of JSON, the result last', async () => {
    const { code, stdout } = await cli.run(['run', '--json'], { input: 'count to 3' })
    expect(code).toBe(0)
    const frames = linesOf(stdout).map(jsonOf)
    const records = frames.flatMap(({ record }) => (record ? [record] : []))
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    expect(records.map(({ event }) => event.type)).toContain('turn.ended')
    for (const record of records) expect(Object.keys(record)).toEqual(['seq', 'at', 'event'])
    const spoken = frames.flatMap(({ delta }) => (delta?.kind === 'text' ? [delta.text] : [])).join('')
    expect(spoken).toBe('1, 2, 3.')
    expect(frames.at(-1)).toMatchObject({
      result: { sessionId: /^ses_/.exec(frames.at(-1).result.sessionId)?.input, text: '1, 2, 3.', status: 'idle' },
    })
    expect(frames.at(-1).result.usage.output).toBeGreaterThan(0)
  })

  it('adds what is piped in to a given prompt', async () => {
    const ran = await cli.run(['run', 'count to 2'], { input: 'count to 3\n' })
    expect(ran.stdout).toContain('1, 2, 3.')
    const shown = JSON.parse((await cli.run(['show', '@latest', '--json'])).stdout)
    expect(shown.messages[0].text).toBe('count to 2\n\ncount to 3\n')
  })

  it('rejects calls that ask, except with --yes', async () => {
    const prompt = 'write b.txt: hello'
    const refused = await cli.run(['run', prompt])
    expect(refused.code).toBe(0)
    expect(refused.stderr).toContain('Rejected: run cannot ask you here. Use --yes to approve.')
    expect(existsSync(join(cli.workdir, 'b.txt'))).toBe(false)
    expect((await cli.run(['run', '--no', prompt])).stderr).toContain('Rejected by --no.')
    expect(existsSync(join(cli.workdir, 'b.txt'))).toBe(false)
    const approved = await cli.run(['run', '--yes', prompt])
    expect(approved.stderr).toContain('Approved by --yes.')
    expect((await cli.run(['show', '@latest'])).stdout).toContain('approved by --yes')
    expect(readFileSync(join(cli.workdir, 'b.txt'), 'utf8').trim()).toBe('hello')
  })

  it('changes nothing in plan mode', async () => {
    await cli.run(['run', '--plan', '--yes', 'write b.txt: hello'])
    expect(existsSync(join(cli.workdir, 'b.txt'))).toBe(false)
    expect(jsonOf((await cli.run(['ls', '--json'])).stdout).sessions[0]).toMatchObject({ mode: 'plan', status: 'plan' })
  })

  it('continues a session by id, prefix, handle or @latest', async () => {
    const first = jsonOf(linesOf((await cli.run(['run', 'count to 2', '--json'])).stdout).at(-1) ?? '').result
    const { handle } = jsonOf((await cli.run(['ls', '--json'])).stdout).sessions[0]
    for (const name of [first.sessionId, first.sessionId.slice(0, 20), handle, '@latest']) {
      const again = await cli.run(['run', 'count to 2', '-s', name, '--json'])
      expect(jsonOf(linesOf(again.stdout).at(-1) ?? '').result.sessionId).toBe(first.sessionId)
    }
    expect(jsonOf((await cli.run(['ls', '--json'])).stdout).sessions).toMatchObject([{ turnCount: 5 }])
  })

  it('fails with exit code 1 and the reason if the turn fails', async () => {
    const { code, stderr, stdout } = await cli.runProcess(['run', 'fail rejected_key', '--json'])
    expect(code).toBe(1)
    expect(stderr).toContain('rejected key')
    expect(jsonOf(linesOf(stdout).at(-1) ?? '')).toMatchObject({
      result: { status: 'error', reason: 'failed', fault: { kind: 'rejected_key' } },
    })
  })

  it.each([
    [['run', ''], 'empty_prompt', 2],
    [['run'], 'empty_prompt', 2],
    [['run', 'hi', '--workdir', '/no/such/place'], 'bad_workdir', 1],
    [['run', 'hi', '-s', 'calm-harbor-12'], 'session_not_found', 1],
  ])('refuses %j with %s and exit code %i, and leaves no session', async (args, code, exit) => {
    const result = await cli.run([...args, '--json'])
    expect(result.code).toBe(exit)
    expect(jsonOf(linesOf(result.stdout).at(-1) ?? '')).toMatchObject({ error: { code } })
    expect(jsonOf((await cli.run(['ls', '--all', '--json'])).stdout).sessions).toEqual([])
  })

  it('rejects an unknown model with exit code 2, and creates no session', async () => {
    const result = await cli.run(['run', 'hi', '--model', 'dem/agent', '--json'])
    expect(result).toMatchObject({
      code: 2,
      stderr: "--model: There is no model dem/agent. Did you mean 'demo/agent'?\n",
    })
    expect(jsonOf(result.stdout)).toMatchObject({ error: { code: 'unknown_model' } })
    expect(countSessions()).toBe(0)
  })

  it('without credentials prints what to do, and saves the piped prompt', async () => {
    const args = ['run', '--model', 'anthropic/claude-sonnet-4-5', '--json']
    const { code, stdout, stderr } = await cli.run(args, { input: 'Where is the harbour?' })
    expect(code).toBe(1)
    expect(stderr).toContain('holdfast auth login')
    const { error } = jsonOf(linesOf(stdout).at(-1) ?? '')
    expect(error).toMatchObject({ code: 'no_credentials' })
    expect(readFileSync(error.details.prompt, 'utf8')).toBe('Where is the harbour?')
    expect(countSessions()).toBe(0)
  })

  it('aborts its turn on Ctrl-C, keeps the answer so far, and exits with 130', async () => {
    const running = cli.start(['run', 'count to 5000'], { environment: { DEMO_PACE: '0.1' } })
    await running.until('stdout', /3, /)
    running.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    const shown = jsonOf((await cli.run(['show', '@latest', '--json'])).stdout)
    expect(shown.session.status).toBe('idle')
    expect(shown.messages.findLast(({ kind }: { kind: string }) => kind === 'assistant')).toMatchObject({
      interrupted: true,
      text: expect.stringMatching(/^1, 2, 3, /),
    })
  })
})

describe('tell', () => {
  it('shows the turn that a command starts, and only its answer with --no-wait', async () => {
    await cli.run(['run', 'list'])
    const shown = await cli.run(['tell', '@latest', 'sendPrompt', 'content=count to 3'])
    expect(shown).toMatchObject({ code: 0, stdout: '1, 2, 3.\n' })
    const sent = await cli.run(['tell', '@latest', 'sendPrompt', 'content=count to 3', '--no-wait'])
    expect(sent.stdout).toMatch(/^Accepted \(seq \d+\)\.\n$/)
    const asked = await cli.run(['tell', '@latest', 'sendPrompt', 'content=write a.txt: hi'])
    expect(asked.stderr).toMatch(/asks to run: a\.txt[\s\S]*Approval \d+ is open\. To answer: holdfast tell /)
  })

  it('queues prompts behind an open approval, and recalls them, each by a run of its own', async () => {
    await cli.run(['run', 'list'])
    const asked = await cli.run(['tell', '@latest', 'sendPrompt', 'content=run echo hi'])
    expect(asked.stderr).toContain('shell asks to run: echo hi')
    const queued = await cli.run(['tell', '@latest', 'queueFollowUp', 'content=list'])
    expect(queued.stdout).toMatch(/^Accepted \(seq \d+\), queued as follow_up\.\n$/)
    const second = await cli.run(['tell', '@latest', 'queueFollowUp', 'content=count to 2', '--json'])
    const [later, first] = [jsonOf(second.stdout).seq, Number(/seq (\d+)/.exec(queued.stdout)?.[1])]
    const order = await cli.run(['tell', '@latest', 'reorderQueue', 'queue=follow_up', `entries=[${later},${first}]`])
    expect(order.code).toBe(0)
    const back = await cli.run(['tell', '@latest', 'recallQueues', '--json'])
    expect(jsonOf(back.stdout).result.entries.map(({ id }: { readonly id: number }) => id)).toEqual([later, first])
    expect((await cli.run(['tell', '@latest', 'removeQueueEntry', `entry=${first}`])).code).toBe(1)
  })

  it('trusts a tool, which then does not ask, and revokes the trust', async () => {
    await cli.run(['run', 'list'])
    expect((await cli.run(['tell', '@latest', 'setToolTrust', 'tool=write_file', 'scope=session'])).code).toBe(0)
    await cli.run(['run', '-s', '@latest', 'write trusted.txt: yes'])
    expect(readFileSync(join(cli.workdir, 'trusted.txt'), 'utf8')).toContain('yes')
    expect((await cli.run(['show', '@latest'])).stdout).toContain('allowed by trust: session')
    await cli.run(['tell', '@latest', 'revokeToolTrust', 'tool=all'])
    await cli.run(['run', '-s', '@latest', 'write asked.txt: no'])
    expect(existsSync(join(cli.workdir, 'asked.txt'))).toBe(false)
  })
})

describe('a turn whose reader is gone', () => {
  it('is aborted without an error', async () => {
    const pipe = `set -o pipefail; "${nodePath}" "${binPath}" run "count to 5000" | head -c 3; echo " $?"`
    const { stdout } = await promisify(execFile)('bash', ['-c', pipe], {
      cwd: cli.workdir,
      env: { ...process.env, HOLDFAST_HOME: cli.home, DEMO_PACE: '0.1' },
    })
    expect(stdout).toBe('1,  0\n')
    const { session, messages } = jsonOf((await cli.run(['show', '@latest', '--json'])).stdout)
    expect(session.status).toBe('idle')
    expect(messages.findLast(({ kind }: { kind: string }) => kind === 'usage')).toMatchObject({ finish: 'aborted' })
  })
})

describe('ls', () => {
  it('lists nothing if there is no store, and creates none', async () => {
    expect(await cli.run(['ls', '--json'])).toMatchObject({ code: 0, stdout: '{"sessions":[],"next":null}\n' })
    expect((await cli.run(['ls'])).stderr).toMatch(/^No sessions in /)
    expect(existsSync(cli.home)).toBe(false)
  })

  it('lists this workspace, another one, all of them, and matches of a search', async () => {
    const other = join(cli.workdir, 'other')
    mkdirSync(other)
    symlinkSync(other, join(cli.workdir, 'link'))
    await cli.run(['run', 'count to 2'])
    await cli.run(['run', 'count to 7', '--workdir', 'other'])
    const titles = async (...args: readonly string[]) =>
      jsonOf((await cli.run(['ls', '--json', ...args])).stdout).sessions.map(({ title }: { title: string }) => title)
    expect(await titles()).toEqual(['count to 2'])
    expect(await titles('--workspace', 'link')).toEqual(['count to 7'])
    expect(await titles('--all')).toEqual(['count to 7', 'count to 2'])
    expect(await titles('--all', '--search', 'TO 7')).toEqual(['count to 7'])

    const page = jsonOf((await cli.run(['ls', '--all', '--limit', '1', '--json'])).stdout)
    expect(page.sessions).toHaveLength(1)
    expect(await titles('--all', '--cursor', page.next)).toEqual(['count to 2'])
    const table = await cli.run(['ls', '--all'])
    expect(linesOf(table.stdout)).toHaveLength(3)
    expect(table.stdout).toMatch(/^HANDLE +TITLE +STATUS +AGE +MESSAGES +MODEL\n/)
    expect(table.stdout).not.toContain('\u001b')
  })

  it('shows a session as interrupted if its process died during a turn', async () => {
    const running = cli.start(['run', 'count to 5000'], { environment: { DEMO_PACE: '0.1' } })
    await running.until('stdout', /2, /)
    expect(jsonOf((await cli.run(['ls', '--json'])).stdout).sessions).toMatchObject([{ status: 'thinking' }])
    running.kill('SIGKILL')
    await running.ended
    expect(jsonOf((await cli.run(['ls', '--json'])).stdout).sessions).toMatchObject([{ status: 'interrupted' }])
    expect(jsonOf((await cli.run(['show', '@latest', '--json'])).stdout).session.status).toBe('interrupted')
  })
})

describe('show and export', () => {
  it('print all messages, or the newest, as text and as JSON', async () => {
    await cli.run(['run', 'list the files here'])
    const whole = jsonOf((await cli.run(['show', '@latest', '--json'])).stdout)
    expect(Object.keys(whole)).toEqual(['session', 'messages', 'before', 'after'])
    expect(whole.messages[0]).toMatchObject({ kind: 'user', text: 'list the files here' })
    expect(whole).toMatchObject({ before: null, after: null })
    const end = jsonOf((await cli.run(['show', '@latest', '--json', '--limit', '2'])).stdout)
    expect((await cli.run(['show', '@latest', '--limit', '1'])).stdout).toContain('\nagent  ')
    expect(end.messages).toEqual(whole.messages.slice(-2))
    expect(end.before).toBe(end.messages[0].id)
    expect((await cli.run(['show', '@latest'])).stdout).toContain('tool list_directory {"path":"."}')
    expect(jsonOf((await cli.run(['export', '@latest', '--format', 'json'])).stdout)).toEqual(whole)
  })

  it('write a private file, and replace one only with --force', async () => {
    await cli.run(['run', 'count to 3'])
    const path = join(cli.workdir, 'out.md')
    expect((await cli.run(['export', '@latest', '-o', 'out.md'])).code).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toContain('## Agent · ')
    writeFileSync(path, 'mine')
    const again = await cli.run(['export', '@latest', '-o', 'out.md'])
    expect(again).toMatchObject({ code: 1, stderr: `${path} already exists. Use --force to replace it.\n` })
    expect(readFileSync(path, 'utf8')).toBe('mine')
    expect((await cli.run(['export', '@latest', '-o', 'out.md', '--force'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toContain('1, 2, 3.')
    expect(readdirSync(cli.workdir)).toEqual(['out.md'])
  })

  it('suggest a similar session if none has the name', async () => {
    await cli.run(['run', 'count to 3'])
    const { handle } = jsonOf((await cli.run(['ls', '--json'])).stdout).sessions[0]
    const wrong = `x${handle}`
    for (const args of [
      ['show', wrong],
      ['tell', wrong, 'abort'],
    ]) {
      const { code, stderr } = await cli.run(args)
      expect(code).toBe(1)
      expect(stderr).toBe(`There is no session ${wrong}. Did you mean '${handle}'?\n`)
    }
  })

  it('escape control characters of stored text', async () => {
    const hostile = '\u001b]52;c;eA==\u0007\u009b2J\u202e\rcount to 1'
    await cli.run(['run'], { input: hostile })
    for (const args of [
      ['ls'],
      ['show', '@latest'],
      ['export', '@latest'],
      ['ls', '--json'],
      ['show', '@latest', '--json'],
    ]) {
      const { code, stdout } = await cli.run(args)
      expect(code).toBe(0)
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
    expect(jsonOf((await cli.run(['show', '@latest', '--json'])).stdout).messages[0].text).toBe(hostile)
  })

  it('end without an error if the reader is gone', async () => {
    await cli.run(['run', 'count to 3'])
    const pipe = `set -o pipefail; "${nodePath}" "${binPath}" show @latest | true; echo "$?"`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', pipe], {
      cwd: cli.workdir,
      env: { ...process.env, HOLDFAST_HOME: cli.home },
    })
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' })
  })
})

describe('a store that cannot be used', () => {
  const commands = [['ls'], ['show', 'calm-harbor-12'], ['run', 'hi'], ['tell', 'calm-harbor-12', 'abort']]

  async function expectRefused(code: string) {
    const files = () => readdirSync(dirname(storeOf(cli))).toSorted()
    const before = { bytes: readFileSync(storeOf(cli)), files: files() }
    for (const args of commands) {
      const result = await cli.run([...args, '--json'])
      expect(result.code).toBe(1)
      expect(jsonOf(result.stdout)).toMatchObject({ error: { code } })
      expect(result.stderr).toContain(storeOf(cli))
    }
    expect(readFileSync(storeOf(cli)).equals(before.bytes)).toBe(true)
    expect(files()).toEqual(before.files)
  }

  it('because it is not a store is not changed', async () => {
    mkdirSync(dirname(storeOf(cli)), { recursive: true })
    writeFileSync(storeOf(cli), 'someone’s notes\n')
    await expectRefused('not_a_store')
  })

  it('because it is newer is not changed', async () => {
    await cli.run(['run', 'count to 1'])
    const database = new DatabaseSync(storeOf(cli))
    database.exec('pragma user_version = 99; pragma wal_checkpoint(truncate)')
    database.close()
    await expectRefused('store_too_new')
  })
})

describe('a command that only reads', () => {
  // Prints every loaded module on standard error.
  const spy = `import { registerHooks } from 'node:module'
registerHooks({ resolve(name, context, next) { const found = next(name, context); process._rawDebug('loaded ' + found.url); return found } })`
  const spied = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(spy)}` }
  const environment = { ...spied, HOLDFAST_TEST_BUILD: '' } // its files are not those of the source
  const loadedBy = async (...args: readonly string[]) => {
    const { code, stderr } = await cli.runProcess(args, { environment })
    expect(code).toBe(0)
    expect(stderr).toContain('/cli/main.ts')
    return stderr
  }

  it('loads only the modules it needs', async () => {
    await cli.runProcess(['run', 'count to 1'])
    for (const args of [['--version'], ['--help'], ['ls'], ['ls', '--json']]) {
      expect(await loadedBy(...args)).not.toMatch(
        /\/zod\/|\/core\/src\/(?!ports\/)|\/open\.ts|\/src\/server\/|\/src\/providers\/|worker/,
      )
    }
    for (const args of [
      ['show', '@latest'],
      ['export', '@latest'],
    ]) {
      expect(await loadedBy(...args)).not.toMatch(/\/open\.ts|\/src\/server\/|\/src\/providers\/|worker|\/hono\//)
    }
    expect(await loadedBy('run', 'count to 1')).toMatch(/\/providers\//) // otherwise the spy does not work
  })
})
