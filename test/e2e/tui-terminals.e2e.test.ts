import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { binPath, type Cli, createCli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { createLongConversation } from '../../packages/holdfast/src/transfer/import/testing/long-conversation.ts'
import { openTerminal } from './cli-terminal.ts'
import { openTui } from './tui-screen.ts'

let cli: Cli
beforeAll(() => {
  cli = createCli()
})
afterAll(() => cli[Symbol.dispose]())

const folder = (name: string): string => {
  const path = join(cli.workdir, name)
  mkdirSync(path, { recursive: true })
  return path
}

const hasTmux = (process.env['PATH'] ?? '').split(delimiter).some((one) => existsSync(join(one, 'tmux')))

describe('terminals', () => {
  it('ends when its terminal vanishes during a turn, and the session can be continued', async () => {
    const cwd = folder('vanished')
    await using screen = openTui(cli, [], { cwd })
    await screen.until(/demo\/agent/)
    screen.type('run sleep 60\r')
    await screen.until(/y once/)
    screen.type('y')
    await screen.until(/runs shell/)
    // As when a window is closed: nothing is at the other end of the pty any more.
    const master = screen.pty as unknown as { readonly _socket: { destroy(): void } } // node-pty offers no other way
    master._socket.destroy()
    await screen.ended
    const { messages } = JSON.parse((await cli.run(['show', '@latest', '--json'], { cwd })).stdout)
    expect(messages).toContainEqual(
      expect.objectContaining({ call: expect.objectContaining({ tool: 'shell', status: 'interrupted' }) }),
    )
    const next = await cli.run(['run', '-c', 'count to 3'], { cwd })
    expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining('1, 2, 3.') })
  })

  it.skipIf(!hasTmux)('works in tmux, also after its window was resized', async () => {
    const cwd = folder('tmux')
    const socket = join(cwd, 'socket')
    const tmux = async (...args: readonly string[]) =>
      (await promisify(execFile)('tmux', ['-S', socket, ...args])).stdout
    const variables = { HOLDFAST_HOME: cli.home, HOLDFAST_LOCAL_MODELS: 'off', DEMO_PACE: '0', LANG: 'C.UTF-8' }
    const set = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    const program = `'${nodePath}' '${binPath}'`
    await tmux('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '24', '-c', cwd, ...set, program)
    try {
      const screen = () => tmux('capture-pane', '-p')
      const until = (pattern: RegExp) => expect.poll(screen, { timeout: 20_000, interval: 50 }).toMatch(pattern)
      await until(/ {2}exec · demo\/agent/)
      await tmux('send-keys', '-l', 'count to 40')
      await until(/❯ count to 40/)
      await tmux('send-keys', 'Enter')
      await until(/38, 39, 40\.[\s\S]*❯\s*\n {2}exec/)
      for (const [columns, rows] of [
        [50, 20],
        [100, 30],
      ] as const) {
        await tmux('resize-window', '-x', String(columns), '-y', String(rows))
        await until(new RegExp(`❯ count to 40[\\s\\S]*^─{${columns}}\\n❯\\s*\\n {2}exec`, 'm'))
        const shown = await screen()
        expect(shown.match(/❯ count to 40/g)).toHaveLength(1)
        expect(shown.match(/^─+$/gm)).toHaveLength(1)
      }
      const scrollback = await tmux('capture-pane', '-p', '-S', '-', '-E', '-1')
      expect(scrollback).toContain('❯ count to 40') // what was on the screen before the first resize
      expect(scrollback).not.toMatch(/^ {2}exec ·|^─+$/m) // no input and no status line of a former size
      await tmux('send-keys', 'C-o')
      await until(/Transcript[\s\S]*❯ count to 40/)
      await tmux('send-keys', 'q')
      await until(/^─+\n❯\s*\n {2}exec/m)
    } finally {
      await tmux('kill-server')
    }
  })

  it('shows a hostile title in the list of sessions as escapes', async () => {
    const cwd = folder('hostile')
    await cli.run(['run', 'up \u001b]0;owned\u0007\u001b[2J\u009b31m\u202edown'], { cwd })
    await using screen = openTui(cli, ['-r'], { cwd, columns: 120 })
    await screen.until(/up \\u\{1b\}\]0;owned/)
    for (const bad of ['\u001b]', '\u009b', '\u202e', '\u0007']) expect(screen.raw()).not.toContain(bad)
    screen.type('\r')
    await screen.untilWhole(/── \w+-\w+-\d+ {2}up \\u\{1b\}\]0;owned/)
    for (const bad of ['\u001b]', '\u009b', '\u202e', '\u0007']) expect(screen.raw()).not.toContain(bad)
  })

  it('prints lines only with --plain, and the version with -v', async () => {
    await using plain = openTui(cli, ['--plain'], { cwd: folder('plain') })
    await plain.until(/Type a prompt and press Enter/)
    plain.type('count to 3\r')
    await plain.until(/1, 2, 3/)
    plain.type('/leave\r')
    expect(await plain.ended).toBe(0)
    expect(plain.raw()).not.toMatch(/\u001b\[\?(?:2026|1049)h/)
    using version = openTerminal(cli, ['-v'])
    await version.until(/^\d+\.\d+\.\d+/)
    expect(await version.ended).toBe(0)
  })

  it('shows a bar while it imports, and removes it at the end', async () => {
    const old = folder('old')
    const files = 60
    for (let file = 0; file < files; file++)
      writeFileSync(join(old, `${file}.jsonl`), createLongConversation(100, `old-${file}`))
    using terminal = openTerminal(cli, ['import', old])
    await terminal.until(/\[[#-]{20}\] \d+ of 60 files, [\d.]+ MB, [\d.]+ MB\/s/)
    await terminal.until(/60 imported\./)
    expect(await terminal.ended).toBe(0)
  })
})
