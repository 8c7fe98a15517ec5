import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTui, type TuiScreen } from './tui-screen.ts'

const idle = /❯\s*\n {2}exec · (?:demo|interrupted)/

/** Sends a prompt and waits for the end of its turn. */
async function say(screen: TuiScreen, prompt: string, answer: RegExp): Promise<void> {
  screen.type(`${prompt}\r`)
  await screen.untilWhole(answer)
  await screen.until(idle)
}

async function allow(screen: TuiScreen, prompt: string, answer: RegExp): Promise<void> {
  screen.type(`${prompt}\r`)
  await screen.until(/y once/)
  screen.type('y')
  await screen.untilWhole(answer)
  await screen.until(idle)
}

let cli: Cli
beforeAll(() => {
  cli = createCli()
  const skill = join(cli.workdir, '.holdfast/skills/release')
  mkdirSync(skill, { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: release\ndescription: Writes notes.\n---\nWrite notes.\n')
  const program = resolve(
    import.meta.dirname,
    '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  )
  mkdirSync(join(cli.home, 'config'), { recursive: true })
  const mcpServers = { every: { command: process.execPath, args: [program] } }
  writeFileSync(join(cli.home, 'config/mcp.json'), JSON.stringify({ mcpServers }))
})
afterAll(() => cli[Symbol.dispose]())

describe('the slash commands of the terminal UI', () => {
  it('/undo takes a turn back with its files, /export writes a file, /fork goes on in a copy', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    await say(screen, 'count to 3', /1, 2, 3/)
    await allow(screen, 'write made.txt: by the turn', /✓ write_file made\.txt/)
    expect(existsSync(join(cli.workdir, 'made.txt'))).toBe(true)

    screen.type('/export told.md\r')
    await screen.untilWhole(/Wrote told\.md/)
    expect(readFileSync(join(cli.workdir, 'told.md'), 'utf8')).toContain('write made.txt: by the turn')
    screen.type('/export told.txt\r')
    await screen.untilWhole(/must end in \.md, \.html, \.json or \.jsonl/)

    screen.type('/undo\r')
    await screen.until(/Go back before turn 1\?[\s\S]*made\.txt/)
    screen.type('y')
    await screen.untilWhole(/now continues after turn 0/)
    await screen.until(/❯ write made\.txt: by the turn/)
    expect(existsSync(join(cli.workdir, 'made.txt'))).toBe(false)

    screen.type('\u0015/fork\r')
    await screen.untilWhole(/── \w+-\w+-\d+ {2}count to 3/)
    await say(screen, 'count to 5', /1, 2, 3, 4, 5/)
    const listed = JSON.parse((await cli.run(['ls', '--json'])).stdout) as {
      readonly sessions: readonly { readonly turnCount: number }[]
    }
    expect(listed.sessions.map(({ turnCount }) => turnCount).sort()).toEqual([1, 2])
  })

  it('/skills activates a skill, /todos lists the tasks, /screens the screens', async () => {
    await cli.run(['trust', 'grant', '--all'])
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type('/skills\r')
    await screen.until(/Skills[\s\S]*☐ release {2}Writes notes\./)
    screen.type('\r')
    await screen.until(/☑ release/)
    screen.type('\u001b')
    await screen.until(idle)

    await say(screen, 'todo done paint; doing sand; varnish', /☑ paint|1 of 3 tasks done/)
    screen.type('/todos\r')
    await screen.until(/Tasks[\s\S]*☑ paint\n▸ sand\n☐ varnish/)
    screen.type('q')
    await screen.until(/ {2}exec/)

    screen.type('/screens\r')
    await screen.until(/Screens of this session[\s\S]*\(this one\) +driver/)
  })

  it('/boundaries sets the lines that tools may change, and the status line says so', async () => {
    writeFileSync(join(cli.workdir, 'bounded.txt'), 'one\ntwo\nthree\n')
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type('/b')
    // A name that is too long is cut, so that what the commands do is one column.
    await screen.until(/^❯ \/boundaries \[.*… {2}show, set[^\n]*\n {2}\/branch {33,} choose a turn/m)
    screen.type('\u0015')
    screen.type('/boundaries bounded.txt 2\r')
    await screen.until(/Edit boundaries[\s\S]*line 2 of bounded\.txt/)
    screen.type('q')
    await screen.until(/ {2}exec · .*1 file bounded/)
    await say(screen, 'edit bounded.txt: one => 1', /edit outside boundary/)
    expect(readFileSync(join(cli.workdir, 'bounded.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
    screen.type('/boundaries clear bounded.txt\r')
    await screen.until(/no edit boundaries: tools may change every line/)
  })

  it('/agents lists subagents, and shows the transcript of one until it is closed', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    await say(screen, 'delegate count to 4', /1, 2, 3, 4/)
    screen.type('/agents\r')
    await screen.until(/Subagents[\s\S]*\(general\) +completed/)
    screen.type('\r')
    await screen.until(/Transcript[\s\S]*❯ count to 4[\s\S]*1, 2, 3, 4/)
    screen.type('q')
    await screen.until(/Subagents/)
  })

  it('the form of an MCP server is filled in field by field', async () => {
    await using screen = openTui(cli, [], { columns: 100, rows: 40 })
    await screen.until(/demo\/agent/)
    screen.type('call mcp__every__trigger-elicitation-request\r')
    await screen.until(/allow mcp__every__trigger-elicitation-request\?[\s\S]*y once/)
    screen.type('y')
    await screen.until(/every asks[\s\S]*y answer/)
    screen.type('y')
    await screen.until(/── answer ─/)
    screen.type('Ada\r')
    await screen.untilNot(/\? Ada/)
    // The other fields are optional: Enter leaves each out.
    for (let field = 0; field < 30 && !/Ada[\s\S]*name/.test(screen.whole()); field++) {
      const before = screen.text()
      screen.type('\r')
      await screen.untilNot(new RegExp(`^${RegExp.escape(before)}$`))
    }
    await screen.untilWhole(/✓ mcp__every__trigger-elicitation-request/)
    expect(screen.whole()).toContain('Ada')
  })
})

describe('the screen of the terminal UI', () => {
  it('comes back after Ctrl+Z and fg without a second copy, and works on', async () => {
    await using screen = openTui(cli, [], { isJob: true })
    await screen.until(/demo\/agent/)
    await say(screen, 'count to 3', /1, 2, 3/)
    screen.type('half a pro')
    await screen.until(/❯ half a pro/)
    screen.type('\u001a')
    await screen.until(/Stopped[\s\S]*\n\$\s*$/)
    expect(screen.text()).not.toContain('❯ half')
    screen.type('fg\r')
    await screen.until(/❯ half a pro\n {2}exec/)
    expect(screen.rows().filter((row) => row.startsWith('────'))).toHaveLength(1)
    screen.type('\u0015')
    await say(screen, 'count to 4', /1, 2, 3, 4/)
    screen.type('\u0004')
    await screen.untilWhole(/To go on: holdfast -c/)
  })

  it('is not drawn over an external editor while an answer streams', async () => {
    const [editor, wait] = [join(cli.workdir, 'slow-editor'), join(cli.workdir, 'go')]
    // A FIFO lets the test decide when the editor ends.
    writeFileSync(editor, `#!/bin/sh\nmkfifo '${wait}'\necho EDITOR-IS-OPEN\ncat '${wait}' > "$1"\n`, { mode: 0o755 })
    await using screen = openTui(cli, [], { environment: { EDITOR: editor, DEMO_PACE: '0.2' } })
    await screen.until(/demo\/agent/)
    screen.type('count to 60\r')
    await screen.until(/1, 2, 3/)
    screen.type('\u0007')
    await screen.until(/EDITOR-IS-OPEN/)
    const drawn = screen.raw().length
    const answered = async () => {
      const [session] = JSON.parse((await cli.run(['ls', '--json', '--limit', '1'])).stdout).sessions
      return session.status === 'idle'
    }
    await expect.poll(answered, { timeout: 15_000 }).toBe(true)
    expect(screen.raw().slice(drawn)).toBe('')
    writeFileSync(wait, 'written there')
    await screen.until(/❯ written there/)
    await screen.untilWhole(/59, 60/)
  })

  it('shows the end of a long command, where it runs and how much is hidden', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type(`call shell ${JSON.stringify({ command: `echo hi ${'\n'.repeat(31)}rm -rf ~` })}\r`)
    await screen.until(/▌ echo hi[\s\S]*\d+ rows are hidden: v shows all[\s\S]*▌ rm -rf ~\n▌ in \/[\s\S]*y once/)
    screen.resize(40, 16)
    await screen.until(/y once[\s\S]*n no {3}v view/)
    screen.type('n')
    await screen.until(/why not/)
    screen.type('\r')
    await screen.untilWhole(/rejected/)
  })

  it('starts a new session if the list of -r is left with Esc', async () => {
    await using screen = openTui(cli, ['-r'])
    await screen.until(/Sessions of[\s\S]*Esc new session/)
    screen.type('\u001b')
    await screen.until(/exec · demo\/agent/)
    await say(screen, 'count to 6', /1, 2, 3, 4, 5, 6/)
    await say(screen, '/pin', /· Pinned: the session is listed first/)
    await say(screen, '/pin', /· No longer pinned\./)
    await say(screen, '/rename Six numbers', /· The title is now: Six numbers/)
  })

  it('uses the mouse in lists only if asked: wheel and click', async () => {
    const press = (row: number) => `\u001b[<0;5;${row + 1}M\u001b[<0;5;${row + 1}m`
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    await say(screen, 'count to 8', /7, 8/)
    screen.type('\u000f')
    await screen.until(/Transcript/)
    screen.type('q')
    await screen.until(idle)
    expect(screen.raw()).not.toContain('\u001b[?1000h')

    screen.type('/mouse\r')
    await screen.untilWhole(/The wheel and clicks work in lists/)
    screen.type('/think\r')
    await screen.until(/❯ off/)
    expect(screen.raw()).toContain('\u001b[?1000h\u001b[?1006h')
    screen.type('\u001b[<65;5;6M')
    await screen.until(/❯ high/)
    const row = screen.rows().findIndex((text) => text.includes('low'))
    screen.type(press(row))
    await screen.until(/❯ low/)
    screen.type(press(row))
    await screen.until(/^ {2}exec[^\n]* think low/m)
    expect(screen.raw().slice(screen.raw().lastIndexOf('\u001b[?1000h'))).toContain('\u001b[?1000l')
  })

  it('loses no row in many quick resizes', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    await say(screen, 'count to 200', /199, 200/)
    for (let width = 79; width >= 50; width--) screen.resize(width, 24)
    for (let width = 51; width <= 90; width++) screen.resize(width, 24)
    for (let height = 23; height >= 12; height--) screen.resize(90, height)
    screen.resize(80, 24)
    await screen.until(/^─{80}$/m)
    await say(screen, 'count to 7', /1, 2, 3, 4, 5, 6, 7\./)
    const words = screen.whole().replaceAll(/\s+/g, ' ')
    expect(words).toContain(Array.from({ length: 200 }, (_, index) => index + 1).join(', '))
    expect(screen.whole().match(/❯ count to 200/g)).toHaveLength(1)
    expect(screen.rows().filter((row) => /^ {2}exec/.test(row))).toHaveLength(1)
  })
})
