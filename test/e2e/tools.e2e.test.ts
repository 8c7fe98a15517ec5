import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

it('lists tools, rules and the sandbox in force, and says with each question what a command can reach', async () => {
  const cli = createCli()
  onTestFinished(() => cli[Symbol.dispose]())
  await cli.run(['permissions', 'add', 'allow', 'shell', 'git status'])
  await cli.run(['permissions', 'add', 'deny', 'network', 'curl **'])
  const off = { HOLDFAST_SANDBOX: 'off' }
  const plain = await cli.run(['tools'], { environment: off })
  expect(plain.stdout).toMatch(/^read_file +nothing +run$/m)
  expect(plain.stdout).toMatch(/^shell +something +ask first +allow shell git status, deny network curl \*\*$/m)
  expect(plain.stdout).toContain('without a sandbox (it is switched off): an approved command can do what you can do.')
  writeFileSync(join(cli.workdir, 'AGENTS.md'), 'Be brief. @style.md')
  writeFileSync(join(cli.workdir, 'style.md'), 'No semicolons.')
  const ran = await cli.run(['run', '--plan', 'hello'], { environment: off })
  expect(ran.code).toBe(0)
  const { tools, sandbox } = JSON.parse((await cli.run(['tools', '@latest', '--json'], { environment: off })).stdout)
  expect(sandbox).toMatchObject({ setting: 'off', isInForce: false, network: true })
  expect(tools).toContainEqual(expect.objectContaining({ name: 'write_file', verdict: 'deny', isDestructive: true }))
  const told =
    'Instructions that the model is told; of two that differ, the later one counts:\n  AGENTS.md\n  style.md, imported by AGENTS.md\n'
  expect((await cli.run(['tools', '@latest'], { environment: off })).stdout).toContain(told)
  const asked = await cli.run(['run', '--yes', 'run echo hello'], { environment: off })
  expect(asked.stderr).toContain('No sandbox (it is switched off): an approved command can do what you can do.')
  expect((await cli.run(['tools'], { environment: { HOLDFAST_SANDBOX: 'maybe' } })).code).toBe(1)
})
