import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { binPath, type Cli, createCli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTui, type TuiScreen } from './tui-screen.ts'

const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

/** How each shell is started without a person's settings, and what makes its prompt `$ ` and loads the script. */
const shells = {
  bash: { command: ['bash', '--norc', '--noprofile', '-i'], start: `PS1='$ '; source completion; clear` },
  zsh: {
    command: ['zsh', '-f', '-i'],
    start: `PS1='$ '; autoload -Uz compinit; compinit -D; source completion; clear`,
  },
  fish: {
    command: ['fish', '--no-config', '-i'],
    start: `function fish_prompt; echo -n '$ '; end; set fish_autosuggestion_enabled 0; source completion; clear`,
  },
} as const
type Shell = keyof typeof shells

/** A model with a colon, as local servers name them, and a name that a shell must not expand. */
const program = `#!/bin/sh
case "$*" in
  *ollama*) printf 'ollama/llama3:8b\\tLlama\\n' ;;
  *'show evil'*) printf 'evil$(touch expanded)\\tbad\\n' ;;
  *) exec '${nodePath}' '${binPath}' "$@" ;;
esac
`

/** Opens a shell that completes the lines of the program. */
async function openShell(shell: Shell, cli: Cli): Promise<TuiScreen> {
  writeFileSync(join(cli.workdir, 'completion'), (await cli.run(['completion', shell])).stdout)
  writeFileSync(join(cli.workdir, 'holdfast'), program, { mode: 0o755 })
  const { command, start } = shells[shell]
  const environment = { PATH: `${cli.workdir}:${process.env['PATH']}` }
  const screen = openTui(cli, [], { command, environment, columns: 100 })
  screen.type(`${start}\r`)
  await screen.until(/^\$ *$/m)
  return screen
}

/** Types a line and Tab, and waits until it is the completed line. */
async function complete(screen: TuiScreen, line: string, completed: string): Promise<void> {
  screen.type(`${line}\t`)
  await screen.until(new RegExp(`^\\$ ${RegExp.escape(completed)} ?$`, 'm'))
  screen.type('\u0015\u000c') // clears the line and the screen
  await screen.until(/^\$\s*$/)
}

for (const shell of ['bash', 'zsh', 'fish'] as const)
  it.skipIf(!isInstalled(shell))(`${shell} completes with Tab what a person types`, async () => {
    using cli = createCli()
    await cli.run(['run', 'count to 2'])
    const { sessions } = JSON.parse((await cli.run(['ls', '--json'])).stdout)
    const handle: string = sessions[0].handle
    await cli.run(['branch', handle, '0'])
    await using screen = await openShell(shell, cli)
    await complete(screen, 'holdfast sho', 'holdfast show')
    await complete(screen, 'holdfast show --lim', 'holdfast show --limit')
    await complete(screen, `holdfast show ${handle.slice(0, 5)}`, `holdfast show ${handle}`)
    await complete(screen, 'holdfast show @la', 'holdfast show @latest')
    await complete(screen, `holdfast ${handle.slice(0, 5)}`, `holdfast ${handle}`)
    await complete(screen, `holdfast switch ${handle} bra`, `holdfast switch ${handle} branch-1`)
    await complete(screen, 'holdfast show @latest --branch bra', 'holdfast show @latest --branch branch-1')
    await complete(screen, 'holdfast run --model demo/', 'holdfast run --model demo/agent')
    await complete(screen, 'holdfast --model=demo/', 'holdfast --model=demo/agent')
    await complete(screen, 'holdfast --model ollama/llama3:', 'holdfast --model ollama/llama3:8b')
    await complete(screen, 'holdfast config set sandboxN', 'holdfast config set sandboxNetwork')
    await complete(screen, 'holdfast config set sandbox au', 'holdfast config set sandbox auto')
    await complete(screen, 'holdfast permissions add al', 'holdfast permissions add allow')
    await complete(screen, 'holdfast permissions add allow list_', 'holdfast permissions add allow list_directory')
    await complete(screen, 'holdfast import comp', 'holdfast import completion')
    screen.type('holdfast show evil\t')
    await screen.until(/evil\S*\$\S*touch/)
    expect(existsSync(join(cli.workdir, 'expanded'))).toBe(false)
  })

it('refuses a shell that it does not know', async () => {
  using cli = createCli()
  expect(await cli.run(['completion', 'tcsh'])).toMatchObject({ code: 2 })
})
