import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTerminal } from './cli-terminal.ts'
import { openTui } from './tui-screen.ts'

describe('a mistake at the command line', () => {
  let cli: Cli
  beforeAll(async () => {
    cli = createCli()
    await cli.run(['run', 'count to 2'])
    await cli.run(['run', '-c', 'count to 3'])
  })
  afterAll(() => cli[Symbol.dispose]())

  it.each([
    [['--plian'], "Unknown flag '--plian'. Did you mean '--plain'?\n"],
    [
      ['export', '@latest', '-o', 'x.pdf'],
      'Holdfast cannot write .pdf files. End the name in .md, .html, .json or .jsonl,',
    ],
    [
      ['boundary', '@latest', 'set'],
      "boundary has no action 'set'. To set one: holdfast boundary @latest src/app.ts 3-9\n",
    ],
    [
      ['boundary', '@latest', 'set', 'a.ts', '3-9'],
      'boundary takes a session, a file and lines, such as: holdfast boundary',
    ],
    [['boundary', '@latest', 'clear'], 'To clear one: holdfast boundary <session> <file> --clear\n'],
    [['boundary', '@latest', 'list'], 'To list them: holdfast boundary <session>\n'],
  ])('of %j is wrong usage, and says what to write', async (args, sentence) => {
    expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
  })

  it('writes what --format says into a file with any ending', async () => {
    const { code, stderr } = await cli.run(['export', '@latest', '-o', join(cli.workdir, 'x.txt'), '--format', 'md'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/x\.txt as Markdown\.\n$/) })
  })

  it('of going back to the turn that the session is at changes nothing', async () => {
    const refused = await cli.run(['rewind', '@latest', '1', '--json'])
    expect(refused).toMatchObject({ code: 1, stderr: 'No turn comes after turn 1, so there is nothing to undo.\n' })
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'nothing_to_undo' } })
    expect((await cli.run(['branches', '@latest'])).stderr).toBe('This session has no branches.\n')
  })

  it('of importing a file without a readable part fails, and says so', async () => {
    const whole = join(cli.workdir, 'whole.jsonl')
    await cli.run(['export', '@latest', '-o', whole])
    const [head = ''] = readFileSync(whole, 'utf8').split('\n')
    const file = join(cli.workdir, 'damaged.jsonl')
    writeFileSync(file, `${head}\n{"seq":1,\n`)
    const { code, stderr } = await cli.run(['import', file])
    expect(code).toBe(1)
    expect(stderr).toContain(`${file} is damaged: no message of it can be read.\n`)
  })

  it('of a session that does not exist says so, and how to list them', async () => {
    using terminal = openTerminal(cli, ['nosuch-12'])
    await terminal.until(/There is no session nosuch-12\. List the sessions with holdfast ls\./)
    expect(await terminal.ended).toBe(1)
  })
})

it('-c in a folder without sessions says so and starts one, on a screen and in lines', async () => {
  using cli = createCli()
  await using screen = openTui(cli, ['-c'])
  await screen.until(/This folder has no session to continue yet: this is a new one\.[\s\S]*demo\/agent/)
  screen.type('\u0004')
  expect(await screen.ended).toBe(0)
  using plain = openTerminal(cli, ['-c', '--plain'])
  await plain.until(/This folder has no session to continue yet: this is a new one\./)
  plain.type('/leave\r')
  expect(await plain.ended).toBe(0)
})

it('ls --utc prints the time of the last message in UTC', async () => {
  using cli = createCli()
  await cli.run(['run', 'count to 2'])
  const { stdout } = await cli.run(['ls', '--utc'])
  const meta = JSON.parse((await cli.run(['ls', '--json'])).stdout).sessions[0]
  expect(stdout).toMatch(/^HANDLE +TITLE +STATUS +LAST MESSAGE /)
  expect(stdout).toContain(`${meta.lastMessageAt.slice(0, 19).replace('T', ' ')} UTC`)
})
