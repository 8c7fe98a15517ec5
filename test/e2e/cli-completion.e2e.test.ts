import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { binPath, createCli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** What each shell answers when it completes a line. */
const scripts = {
  bash: (line: string) => `
    source completion; COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (line: string) => `source completion; complete -C "${line}"`,
}

it.each(['bash', 'fish'] as const)('%s completes commands, flags, sessions, branches and models', async (shell) => {
  using cli = createCli()
  await cli.run(['run', 'count to 2'])
  const { sessions } = JSON.parse((await cli.run(['ls', '--json'])).stdout)
  const handle: string = sessions[0].handle
  await cli.run(['branch', handle, '0'])
  writeFileSync(join(cli.workdir, 'completion'), (await cli.run(['completion', shell])).stdout)
  writeFileSync(join(cli.workdir, 'holdfast'), `#!/bin/sh\nexec '${nodePath}' '${binPath}' "$@"\n`, { mode: 0o755 })
  if (!isInstalled(shell)) return void process.stderr.write(`${shell} is not installed: its completion is not tried\n`)
  const complete = async (line: string): Promise<readonly string[]> => {
    const env = { ...process.env, HOLDFAST_HOME: cli.home, HOLDFAST_LOCAL_MODELS: 'off' }
    const { stdout } = await promisify(execFile)(shell, ['-c', scripts[shell](line)], {
      ...{ cwd: cli.workdir, env: { ...env, PATH: `${cli.workdir}:${process.env['PATH']}` } },
    })
    return stdout.split('\n').flatMap((found) => found.split('\t')[0] || [])
  }
  expect(await complete('holdfast sho')).toEqual(['show'])
  expect(await complete('holdfast show --lim')).toEqual(['--limit'])
  expect(await complete(`holdfast show ${handle.slice(0, 3)}`)).toEqual([handle])
  expect(await complete(`holdfast switch ${handle} bra`)).toEqual(['branch-1'])
  expect(await complete('holdfast run --model demo/')).toEqual(['demo/agent'])
  expect(await complete('holdfast import comp')).toEqual(['completion'])
})

it('prints a script for zsh, and refuses a shell that it does not know', async () => {
  using cli = createCli()
  const { stdout } = await cli.run(['completion', 'zsh'])
  expect(stdout).toMatch(/^#compdef holdfast\n/)
  expect(await cli.run(['completion', 'tcsh'])).toMatchObject({ code: 2 })
  if (!isInstalled('zsh')) return void process.stderr.write('zsh is not installed: its script is not parsed\n')
  writeFileSync(join(cli.workdir, 'script'), stdout)
  await promisify(execFile)('zsh', ['-n', join(cli.workdir, 'script')])
})
