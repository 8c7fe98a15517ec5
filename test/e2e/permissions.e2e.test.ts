import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const permissions = (...args: readonly string[]) => cli.runProcess(['permissions', ...args])

it('adds, applies, lists and removes permission rules on the command line', async () => {
  expect((await permissions('add', 'allow', 'shell', 'echo **')).stderr).toMatch(/^Added rule [0-9a-f]{8}: allow shell/)
  const ran = await cli.runProcess(['run', 'run echo hello'])
  expect(ran.stderr).toContain('  allowed by your rule `echo **`')
  expect((await cli.runProcess(['show', '@latest'])).stdout).toContain('allowed by your rule `echo **`')
  const denied = await permissions('add', 'deny', 'shell', 'echo *', '--workspace', '.', '--json')
  const { id, workspace } = JSON.parse(denied.stdout)
  expect(workspace).toBe(cli.workdir)
  expect((await cli.runProcess(['run', 'run env A=b /bin/echo hello'])).stderr).toContain('your rule `echo *` forbids')
  expect((await permissions()).stdout).toMatch(/^[0-9a-f]{8} +allow +shell +echo \*\* +everywhere$/m)
  expect((await permissions('remove', id)).code).toBe(0)
  expect(JSON.parse((await permissions('list', '--json')).stdout).permissions).toHaveLength(1)
})

it('says at once what a rule about a path does not cover', async () => {
  const added = await permissions('add', 'deny', '*', '.env')
  expect(added.stderr).toMatch(
    /^Added rule .*\nIt covers tools that name a path, .* It does not cover shell commands: /,
  )
  expect((await permissions()).stderr).toMatch(/^A rule about a path does not cover shell commands: /)
})

it('refuses a rule that would allow everything, an unknown id and wrong usage', async () => {
  expect((await permissions('add', 'allow', 'shell', 'bash **')).stderr).toContain(
    'bash can run programs or write any file',
  )
  expect((await permissions('remove', 'ffffffff')).code).toBe(1)
  for (const args of [['adds'], ['add', 'maybe'], ['add', 'allow'], ['remove']])
    expect((await permissions(...args)).code).toBe(2)
})

it('tell names the rule that approve_always has stored', async () => {
  await cli.runProcess(['run', 'list'])
  await cli.runProcess(['tell', '@latest', 'sendPrompt', 'content=run touch $((1 + 1))'])
  const answered = await cli.runProcess(['tell', '@latest', 'respondToApproval', 'decision=approve_always'])
  expect(answered.stderr).toMatch(/^Accepted .*\nStored a rule for this folder: allow shell touch \$\(\(1 \+ 1\)\)\. /m)
})

it('warns of a rule for an unknown tool', async () => {
  expect((await permissions('add', 'deny', 'shel', 'rm *')).stderr).toContain("Did you mean 'shell'?")
})
