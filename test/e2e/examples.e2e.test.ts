import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openBrowser } from './browser.ts'
import { startServerProcess } from './server-process.ts'

const examples = resolve(import.meta.dirname, '../../examples')
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-examples-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function start(args: readonly string[]): ChildProcessWithoutNullStreams {
  const env = { ...process.env, HOLDFAST_HOME: join(folder, 'home'), DEMO_PACE: '0', PORT: '0', NO_COLOR: '1' }
  return spawn(process.execPath, args, { cwd: folder, env })
}

/** Runs Node to its end and returns what it printed. Throws if it fails or writes to stderr. */
async function run(args: readonly string[], input = ''): Promise<string> {
  const child = start(args)
  child.stdin.end(input)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0 || errors !== '') throw new Error(`${args.join(' ')} ended with ${code}: ${errors || output}`)
  return output
}

/** Runs programs one after the other in one process, which is faster, and returns what each printed. */
async function runAll(programs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const urls = programs.map((program) => pathToFileURL(join(examples, program)).href)
  const script = `for (const url of ${JSON.stringify(urls)}) { process.stdout.write('\\0'); await import(url) }`
  const [, ...outputs] = (await run(['--input-type=module', '-e', script])).split('\0')
  return new Map(programs.map((program, index) => [program, outputs[index] ?? '']))
}

/** What each example prints that needs nothing else. */
const printed: Readonly<Record<string, string | RegExp>> = {
  'ai-sdk-tool.ts': 'weather returned Rome: sun\nThe sun shines.',
  'approvals.ts': "write_file asks: diff\nwrite_file: complete\nshell asks: command\nshell: denied\n[ 'hello.txt' ]\n",
  'one-answer.ts':
    /^list_directory \(\.\) returned:\n\n```\n.*\n```\n[A-Z].*\.\n\nlist_directory \(\.\) returned:\n\n```\n.*\n```$/s,
  'own-loop.ts': /^I have read 1 messages\.\nI have read 3 messages\.\nuser: what is there\?\n.*\ntool: a ship\n$/s,
  'own-model/main.ts': 'Is anybody there?\n',
  'own-store/main.ts': /^2 turn\.started\n3 user\.said\n.*\d+ turn\.ended\n1, 2, 3\.\n$/s,
  'own-tool.ts': 'forecast returned {"city":"Oslo","days":3,"weather":"snow"}\nIt snows for three days.',
  'resume-and-branch.ts': [
    "again: [ 'count to 2', 'count to 3' ]",
    "after branchAt: [ 'count to 2' ] saved as branch-1",
    "new line: [ 'count to 2', 'count to 4' ]",
    "after switchBranch: [ 'count to 2', 'count to 3' ]",
    'fork has 2 turns and another id: true\n',
  ].join('\n'),
  'commands.ts': /\n\/count <number>: Counts\.\n.*\n1, 2, 3\.\nplan plan\n$/s,
  'hooks.ts': /^denied: vetoed: Nothing is removed here.\nshell worked\ncomplete: /,
  'mcp-questions.ts': /Ada[\s\S]*\nevery ready \d+\n$/,
  'subagents.ts': 'a subagent asks for write_file\ndone: done\ncompleted general\n',
  'skills.ts': /^release listed \[\]\n/,
  'trust.ts': "new memory .holdfast/MEMORY.md: - make is slow here\n[ 'trusted' ]\n",
  'several-clients.ts': 'anna: driver, ben: viewer\n1, 2.\nben: not_driver\nanna: viewer, ben: driver\n1, 2, 3.\n',
}

/** The examples that need input, a server, a browser or a process; each has a test of its own. */
const others = ['chat-bot.ts', 'follow-a-server.ts', 'follow-from-browser/main.ts', 'test-with-a-script.ts']

describe.concurrent('the examples', () => {
  it('are all run here', ({ expect }) => {
    const programs = globSync(['*.ts', '*/main.ts'], { cwd: examples }).sort()
    expect(programs).toEqual([...Object.keys(printed), ...others].sort())
  })

  it('print what they promise', async ({ expect }) => {
    const outputs = await runAll(Object.keys(printed))
    const promises = Object.entries(printed).map(([program, promised]) => [
      program,
      typeof promised === 'string' ? promised : expect.stringMatching(promised),
    ])
    expect(Object.fromEntries(outputs)).toEqual(Object.fromEntries(promises))
  })

  it('test-with-a-script.ts is a test that passes', async ({ expect }) => {
    const output = await run([join(examples, 'test-with-a-script.ts')])
    expect(output).toMatch(/returns the answer.*keeps the text of a stopped turn.*pass 4\n.*fail 0\n/s)
  })

  it('chat-bot.ts answers each chat in its own session, also after a restart', async ({ expect }) => {
    const bot = [join(examples, 'chat-bot.ts'), `sqlite:${join(folder, 'chats.db')}`]
    const first = await run(bot, 'anna: count to 2\nbob: fail raw_dump\nanna: count to 3\nbob: count to 2\n')
    const of = (chat: string) => first.split('\n').filter((line) => line.startsWith(chat))
    expect(of('anna')).toEqual(['anna> 1, 2.', 'anna> 1, 2, 3.'])
    // The second fails too if it waited for the first. It has its own turn if it came after the first had failed.
    expect(of('bob').filter((line) => /^bob> (Sorry: |1, 2\.$)/.test(line))).toHaveLength(2)
    expect(of('bob')).toContainEqual(expect.stringMatching(/^bob> Sorry: /))
    expect(await run(bot, 'anna: count to 4\n')).toBe('anna> 1, 2, 3, 4.\n')
  })

  it('follow-a-server.ts prints the answer while it arrives', async ({ expect }) => {
    // At its usual pace: all of a faster answer may arrive at once.
    const server = await startServerProcess({ home: join(folder, 'server'), env: { DEMO_PACE: '1' } })
    const output = await run([join(examples, 'follow-a-server.ts'), server.url, server.token])
    expect(output).toMatch(/\n1, 2, 3\.\n$/)
    expect(output).toContain('… ')
    await server.stop()
    const lost = run([join(examples, 'follow-a-server.ts'), server.url])
    await expect(lost).rejects.toThrow(
      /ended with 2: Give the address and the token of the server\. .*server\.token\.\n$/,
    )
  })

  it('follow-from-browser shows a prompt and its answer in every tab', async ({ expect }) => {
    const child = start([join(examples, 'follow-from-browser/main.ts')])
    const [[url], browser] = await Promise.all([once(child.stdout.setEncoding('utf8'), 'data'), openBrowser()])
    const [one, two] = await Promise.all([browser.newPage(), browser.newPage()])
    await Promise.all([one.goto(url.trim()), two.goto(url.trim())])
    await one.fill('input', 'count to 3')
    await one.click('button')
    for (const page of [one, two])
      await expect.poll(() => page.textContent('#transcript')).toBe('> count to 3\n1, 2, 3.\n')
    await one.fill('input', '')
    await one.click('button')
    await expect.poll(() => one.textContent('#problem')).toBe('The prompt is empty. Write something, or attach a file.')
    await one.fill('input', 'write hello.txt: hi')
    await one.click('button')
    await expect.poll(() => two.textContent('#transcript')).toContain('this session does not offer the tool write_file')
    await browser.close()
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
