import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { type KeyAction, keyTable } from '../../packages/holdfast/src/cli/tui/app/key-map.ts'
import { openTui, type TuiScreen } from './tui-screen.ts'

/** What each key of the help does, tried at a terminal. A key without a try does not compile. */
type KeyTry = (screen: TuiScreen, cli: Cli) => Promise<void>

const clearInput = (screen: TuiScreen) => screen.type('\u0015')
const closeView = async (screen: TuiScreen) => {
  screen.type('\u001b')
  await screen.until(/^ {2}(exec|plan)/m)
}

const tries: Readonly<Record<KeyAction, KeyTry>> = {
  async send(screen) {
    screen.type('count to 3\r')
    await screen.untilWhole(/1, 2, 3/)
  },
  async followUp(screen) {
    screen.type('run sleep 20\r')
    await screen.until(/y once/)
    screen.type('y')
    await screen.until(/● shell|⠋|working/)
    screen.type('count to 4\u001b\r')
    await screen.until(/then: count to 4/)
  },
  async recall(screen) {
    screen.type('\u001b[1;3A')
    await screen.until(/❯ count to 4/)
    clearInput(screen)
    await screen.untilNot(/❯ count to 4/)
  },
  async abort(screen) {
    screen.type('\u001b')
    await screen.until(/interrupted/)
    screen.type('\u001b')
    await screen.until(/Esc again/)
    screen.type('\u001b')
    await screen.until(/Go back before a prompt/)
    await closeView(screen)
  },
  async newline(screen) {
    screen.type('one\ntwo\\')
    await screen.until(/two\\/)
    screen.type('\r')
    screen.type('three')
    await screen.until(/❯ one\n {2}two\n {2}three/)
    clearInput(screen)
    screen.type('\u0003')
    await screen.untilNot(/two/)
  },
  async mode(screen) {
    screen.type('\u001b[Z')
    await screen.until(/plan only/)
    screen.type('\u001b[Z')
    await screen.until(/ {2}exec/)
  },
  async cycleModel(screen) {
    screen.type('\u0010')
    await screen.until(/Models[\s\S]*demo\/agent/)
    await closeView(screen)
  },
  async thinking(screen) {
    for (const level of ['low', 'medium', 'high']) {
      screen.type('\u0014')
      await screen.until(new RegExp(`^  exec[^\\n]* think ${level} `, 'm'))
    }
    screen.type('\u0014')
    await screen.untilNot(/think/)
  },
  async transcript(screen) {
    screen.type('\u000f')
    await screen.until(/Transcript/)
    screen.type('\t')
    await screen.until(/▎/)
    screen.type('e')
    screen.type('q')
    await screen.until(/❯/)
  },
  async sessions(screen) {
    screen.type('\u0012')
    await screen.until(/Sessions of/)
    await closeView(screen)
  },
  async files(screen) {
    screen.type('\u0006')
    await screen.until(/Changed files/)
    await closeView(screen)
  },
  async editor(screen) {
    screen.type('draft')
    await screen.until(/❯ draft/)
    screen.type('\u0007')
    await screen.until(/❯ draft from the editor/)
    clearInput(screen)
    await screen.untilNot(/draft from/)
  },
  async pasteImage(screen) {
    screen.type('\u0016')
    await screen.untilWhole(/no image in the clipboard/)
  },
  async takeOver(screen) {
    screen.type('\u0018')
    await screen.until(/ {2}exec/)
  },
  async answer(screen) {
    screen.type('/ren')
    await screen.until(/❯ \/rename/)
    screen.type('\t')
    await screen.until(/❯ \/rename/)
    clearInput(screen)
    await screen.untilNot(/rename/)
  },
  async redraw(screen) {
    const before = screen.rows()
    const drawn = screen.raw().length
    screen.type('\u000c')
    await screen.untilRaw((raw) => /❯[\s\S]*exec[\s\S]*\u001b\[\?2026l/.test(raw.slice(drawn)))
    await screen.until(/ {2}exec/)
    expect(screen.rows()).toEqual(before)
  },
  async suspend() {
    // It needs a shell that continues the process: see tui-commands.e2e.test.ts.
  },
  async help(screen) {
    screen.type('?')
    await screen.until(/Keys and commands/)
    await closeView(screen)
  },
  async clear(screen) {
    screen.type('words')
    await screen.until(/❯ words/)
    screen.type('\u0003')
    await screen.untilNot(/❯ words/)
    screen.type('\u0003')
    await screen.until(/Ctrl\+C again/)
  },
  async leave(screen) {
    screen.type('\u0004')
    expect(await screen.ended).toBe(0)
    expect(screen.whole()).toContain('To go on: holdfast -c')
  },
}

let cli: Cli
beforeAll(() => {
  cli = createCli()
})
afterAll(() => cli[Symbol.dispose]())

describe('the terminal UI', () => {
  it('does what the help says of every key, and gives the terminal back', async () => {
    const editor = join(cli.workdir, 'editor')
    writeFileSync(editor, '#!/bin/sh\nprintf " from the editor" >> "$1"\n')
    chmodSync(editor, 0o755)
    await using screen = openTui(cli, [], { environment: { EDITOR: editor } })
    await screen.until(/demo\/agent/)
    const last: readonly KeyAction[] = ['clear', 'leave']
    const first: readonly KeyAction[] = ['send', 'followUp', 'recall', 'abort']
    const all = keyTable.map(({ action }) => action)
    const order = [...first, ...all.filter((one) => ![...first, ...last].includes(one)), ...last]
    expect(order.toSorted()).toEqual(all.toSorted())
    for (const action of order) await tries[action](screen, cli)
    // Bracketed paste off, line wrap on, cursor shown.
    expect(screen.raw().slice(-200)).toContain('\u001b[?2004l')
    expect(screen.raw().slice(-200)).toContain('\u001b[?25h')
  })

  it('asks in call order, and y, t, s, a and n answer with one key', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    const ask = async (prompt: string, key: string, expected: RegExp) => {
      screen.type(`${prompt}\r`)
      await screen.until(/y once/)
      screen.type(key)
      await screen.untilWhole(expected)
      await screen.until(/❯\s*\n {2}exec/)
    }
    screen.type('write one.txt: first\n')
    await screen.until(/❯ write one\.txt: first\n\n/)
    screen.type('write two.txt: second\r')
    await screen.until(/1 of 2[\s\S]*one\.txt[\s\S]*y once/)
    screen.type('y')
    await screen.until(/allow write_file\?\n▌ two\.txt[\s\S]*y once/)
    screen.type('n')
    await screen.until(/why not/)
    screen.type('not needed\r')
    await screen.untilWhole(/✓ write_file one\.txt[\s\S]*⊘ write_file two\.txt[\s\S]*rejected: not needed/)
    expect(existsSync(join(cli.workdir, 'two.txt'))).toBe(false)
    await screen.until(/❯\s*\n {2}exec/)
    await ask('run echo $((40 + 1))', 't', /✓ shell[^\n]*\n[^\n]*41/)
    await ask('run echo $((40 + 2))', 's', /✓ shell[^\n]*\n[^\n]*42/)
    await ask('run echo $((40 + 3))', 'a', /✓ shell[^\n]*\n[^\n]*43/)
    screen.type('run echo $((40 + 3))\r')
    await screen.untilWhole(/43[\s\S]*✓ shell[^\n]*\n[^\n]*43/)
    screen.type('/trust\r')
    await screen.until(/shell[^\n]*for the (session|workspace)/)
  })

  it('keys go to the input while the person types, and Tab answers', async () => {
    await using screen = openTui(cli, [], { environment: { DEMO_PACE: '1' } })
    await screen.until(/demo\/agent/)
    screen.type('run echo typed\r')
    await screen.until(/working/)
    screen.type('yes I am typing')
    await screen.until(/Tab answers it/)
    expect(screen.text()).toContain('❯ yes I am typing')
    screen.type('\t')
    await screen.until(/y once/)
    screen.type('y')
    await screen.untilWhole(/✓ shell/)
    expect(screen.text()).toContain('❯ yes I am typing')
  })

  it('is drawn right after resizes while an answer streams, with every word once', async () => {
    await using screen = openTui(cli, [], { environment: { DEMO_PACE: '0.1' } })
    await screen.until(/demo\/agent/)
    screen.type('count to 300\r')
    await screen.until(/1, 2, 3/)
    for (const [columns, rows] of [
      [60, 20],
      [100, 30],
      [40, 12],
      [80, 24],
    ] as const) {
      screen.resize(columns, rows)
      // The line above the input is as long as the screen is wide.
      await screen.until(new RegExp(`^──.{${columns - 2}}$`, 'm'))
    }
    await screen.untilWhole(/300/)
    await screen.until(/❯\s*\n {2}exec · demo/)
    const words = screen.whole().replaceAll(/\s+/g, ' ')
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1).join(', ')
    expect(words).toContain(numbers)
    expect(screen.whole().match(/❯ count to 300/g)).toHaveLength(1)
    expect(screen.rows().filter((row) => /^ {2}exec/.test(row))).toHaveLength(1)
  })

  it('is drawn right in tmux, which tells of a new size after it moved the rows', async () => {
    const environment = { DEMO_PACE: '4' }
    await using screen = openTui(cli, [], { name: 'tmux-256color', environment })
    await screen.until(/demo\/agent/)
    screen.type('count to 60\r')
    await screen.until(/1, 2, 3/)
    for (const [columns, rows] of [
      [50, 20],
      [100, 30],
      [60, 24],
    ] as const) {
      screen.terminal.resize(columns, rows)
      const before = screen.raw().length
      await screen.untilRaw((raw) => raw.length > before + 200) // it draws at the old size
      screen.pty.resize(columns, rows)
      await screen.untilRaw((raw) => raw.slice(before).includes('\u001b[H')) // and then anew
      await screen.until(/❯ count to 60\n[\s\S]*Esc stops/)
      expect(screen.text().match(/❯ count to 60/g)).toHaveLength(1)
      expect(screen.text().match(/^─+ ?.*─$/gm)).toHaveLength(1)
    }
    screen.type('\u001b')
  })

  it('shows hostile text as escapes: in files, titles and prompts', async () => {
    const evil = '\u001b]0;owned\u0007\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u202eevil\u2066\u0085\rover'
    writeFileSync(join(cli.workdir, 'evil.txt'), evil)
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type('read evil.txt\r')
    await screen.untilWhole(/u\{1b\}\]0;owned/)
    screen.type('\u001b[200~say \u001b]0;pasted\u0007 this\u001b[201~')
    await screen.until(/❯ say \\u\{1b\}\]0;pasted/)
    // Keyboard input of the terminal itself may hold an OSC; what is drawn may not.
    for (const bad of ['\u001b]', '\u009b', '\u202e', '\u2066', '\u0085']) expect(screen.raw()).not.toContain(bad)
    expect(screen.raw().replaceAll('\u001b[2J', '')).not.toContain('\u0007')
  })

  it('survives a paste bomb, and sends a folded paste in full', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type(`\u001b[200~${'bomb '.repeat(600_000)}\u001b[201~`)
    await screen.untilWhole(/The paste was cut/)
    await screen.until(/\[pasted #1, 1048576 characters\]/) // as much as a prompt can have
    screen.type('\u0015')
    await screen.untilNot(/pasted #1/)
    screen.type(`\u001b[200~${Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join('')}\u001b[201~`)
    await screen.until(/\[pasted #2, 30 lines\]/)
    screen.type('\r')
    await screen.untilWhole(/❯ line 0\n {2}line 1\n/)
  })

  it('says where a new session works and what to do, and not in one that goes on', async () => {
    await using fresh = openTui(cli)
    await fresh.untilWhole(/Holdfast in .*\nThe demo model answers\. Say list/)
    await cli.run(['run', 'count to 2'])
    await using known = openTui(cli, ['-c'])
    await known.untilWhole(/count to 2/)
    expect(known.whole()).not.toContain('The demo model answers')
  })

  it('shows what /search looks for, where it can be changed', async () => {
    await cli.run(['run', 'the word is marimba'])
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type('/search marim\r')
    await screen.until(/ \/ marim\n[\s\S]*the word is marimba/)
    screen.type('x')
    await screen.until(/ \/ marimx\n[\s\S]*Nothing found/)
  })

  it('forgets an announced Ctrl+C after a moment', async () => {
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type('\u0003')
    await screen.until(/Press Ctrl\+C again to leave/)
    await screen.untilNot(/Press Ctrl\+C again to leave/)
    screen.type('\u0003')
    await screen.until(/Press Ctrl\+C again to leave/)
  })

  it('finds sessions by the text of their messages, with a preview, and opens one', async () => {
    await cli.run(['run', 'the word is xylophone'])
    await cli.run(['run', 'something else'])
    await using screen = openTui(cli, ['-r'], { columns: 120, rows: 30 })
    await screen.until(/Sessions of[\s\S]*something else/)
    screen.type('xyloph')
    await screen.until(/❯ the word is xylophone/)
    await screen.until(/│ ❯ the word is xylophone/)
    screen.type('\r')
    await screen.untilWhole(/── \w+-\w+-\d+ {2}the word is xylophone/)
    await screen.until(/ {2}exec/)
  })

  it('continues the latest session with -c, goes back with Esc Esc, and shows the branches as a tree', async () => {
    await using screen = openTui(cli, ['-c'])
    await screen.until(/ {2}exec/)
    screen.type('count to 5\r')
    await screen.untilWhole(/1, 2, 3, 4, 5/)
    await screen.until(/❯\s*\n {2}exec/)
    screen.type('\u001b')
    await screen.until(/Esc again/)
    screen.type('\u001b')
    await screen.until(/❯ +\d+ {2}count to 5/)
    screen.type('\r')
    await screen.untilWhole(/now continues after turn/)
    await screen.until(/─\n❯ count to 5\n/)
    screen.type('\u0015/branches\r')
    await screen.until(/● [^\n]*current line\n[^\n]*└─ branch-1/)
    screen.type('\u001b[B\r')
    await screen.untilWhole(/now continues after turn \d+/)
    await screen.until(/count to 5[\s\S]*1, 2, 3, 4, 5[\s\S]*⎇ branch-1/)
  })

  it('draws no colour with NO_COLOR, and only lines in plain mode', async () => {
    await using bare = openTui(cli, [], { environment: { NO_COLOR: '1' } })
    await bare.until(/demo\/agent/)
    bare.type('count to 3\r')
    await bare.untilWhole(/1, 2, 3/)
    expect(bare.raw()).not.toMatch(/\u001b\[(?:\d+;)*(?:3|4|9)\d(?:;\d+)*m/)

    await using plain = openTui(cli, [], { name: 'dumb' })
    await plain.until(/You drive this session/)
    plain.type('run echo $((6 * 7))\r')
    await plain.until(/asks to run/)
    plain.type('t\r')
    await plain.until(/42/)
    plain.type('/help\r')
    await plain.until(/\/leave ends, \/drive takes control/)
    expect(plain.raw()).not.toContain('\u001b[?2026h')
    plain.type('/leave\r')
    expect(await plain.ended).toBe(0)
  })

  it('attaches an image whose path is dropped on the terminal', async () => {
    const image = join(cli.workdir, 'dot.png')
    writeFileSync(image, Buffer.from(png, 'base64'))
    await using screen = openTui(cli)
    await screen.until(/demo\/agent/)
    screen.type(`\u001b[200~${image}\u001b[201~`)
    await screen.until(/\[image #1, dot\.png\]/)
  })

  it('ends cleanly when the terminal goes away, and loses nothing', async () => {
    mkdirSync(join(cli.workdir, 'gone'), { recursive: true })
    await using screen = openTui(cli, [], { cwd: join(cli.workdir, 'gone') })
    await screen.until(/demo\/agent/)
    screen.type('count to 7\r')
    await screen.untilWhole(/1, 2, 3, 4, 5, 6, 7/)
    process.kill(screen.pid, 'SIGHUP')
    expect(await screen.ended).toBe(0)
    const listed = await cli.run(['ls', '--workspace', join(cli.workdir, 'gone'), '--json'])
    expect(JSON.parse(listed.stdout).sessions).toMatchObject([{ title: 'count to 7', status: 'idle' }])
    expect(readFileSync(join(cli.home, 'state/terminal-history.jsonl'), 'utf8')).toContain('count to 7')
  })
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
