import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
  const guard = { matcher: 'Bash', hooks: [{ type: 'command', command: 'sh guard.sh' }] }
  mkdirSync(join(cli.workdir, '.claude'))
  writeFileSync(join(cli.workdir, 'guard.sh'), 'grep -q "echo" && { echo "no echo" >&2; exit 2; }; exit 0\n')
  const hooks = { PreToolUse: [guard], WorktreeCreate: [guard] }
  writeFileSync(join(cli.workdir, '.claude/settings.json'), JSON.stringify({ hooks }))
})
afterEach(() => cli[Symbol.dispose]())

it('hooks lists those of a workspace with their state, test tries them once they are trusted, and run obeys them', async () => {
  const waiting = await cli.run(['hooks'])
  expect(waiting.stdout).toMatch(
    /^STATE +EVENT +MATCHER +FROM +HOOK\nwaiting +PreToolUse +Bash +workspace +sh guard.sh\n/,
  )
  expect(waiting.stdout).toMatch(/\nunsupported +WorktreeCreate /)
  expect(waiting.stderr).toContain('1 hook does not run before you trust it.')
  expect((await cli.run(['hooks', 'test', 'PreToolUse'])).stderr).toContain('No hook of PreToolUse is active here.')
  const before = await cli.run(['run', 'run echo hi', '--yes'])
  expect(before.stderr).toContain('hook .claude/settings.json PreToolUse 1\n')
  expect(before.stderr).toContain('✓ shell')

  expect((await cli.run(['trust', 'grant', '--all'])).stderr).toContain('no echo')
  const tried = await cli.run(['hooks', 'test', 'PreToolUse'])
  expect(tried.stdout).toMatch(/^PreToolUse hook sh guard.sh: blocked: no echo \(\d+ ms\)\n\| no echo\n$/)
  expect((await cli.run(['hooks', 'test', 'PreToolUse', '--tool', 'read_file'])).stderr).toContain(
    'No hook runs at PreToolUse for read_file: those here are for Bash. Choose another tool with --tool.',
  )
  expect((await cli.run(['hooks', 'test', 'Stop'])).stderr).toContain('No hook runs at Stop here.')
  const after = await cli.run(['run', 'run echo hi', '--yes'])
  expect(after.stderr).toContain('PreToolUse hook sh guard.sh: blocked: no echo\n')
  expect(after.stderr).toContain('✗ shell: no echo')
  expect(JSON.parse((await cli.run(['hooks', '--json'])).stdout)).toMatchObject({ hooks: [{ state: 'active' }, {}] })
  expect(await cli.run(['hooks', 'test', 'PreToolUs'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean 'PreToolUse'?"),
  })
})
