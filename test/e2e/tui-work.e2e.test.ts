import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTui, type TuiScreen } from './tui-screen.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const idle = /❯\s*\n {2}exec · demo/
const altUp = '\u001b[1;3A'
const [ctrlO, ctrlP, ctrlU, ctrlV] = ['\u000f', '\u0010', '\u0015', '\u0016']

let cli: Cli
beforeAll(() => {
  cli = createCli()
})
afterAll(() => cli[Symbol.dispose]())

/** Opens the terminal UI in a folder of its own, so that no other session is the latest. */
async function open(name: string, options: { readonly environment?: Readonly<Record<string, string>> } = {}) {
  const cwd = join(cli.workdir, name)
  mkdirSync(cwd, { recursive: true })
  const screen = openTui(cli, [], { ...options, cwd, columns: 100, rows: 30 })
  await screen.until(/demo\/agent/)
  const inside = { cwd }
  return { screen, cwd, run: (...args: readonly string[]) => cli.run(args, inside) }
}

/** Returns the colour of the first character of a text on the screen: an index of the palette, -1 for the default. */
function colourOf({ terminal }: TuiScreen, text: string): number {
  const { active } = terminal.buffer
  for (let row = 0; row < active.length; row++) {
    const found = active.getLine(row)
    const column = found?.translateToString(true).indexOf(text) ?? -1
    const cell = column === -1 ? undefined : found?.getCell(column)
    if (cell) return cell.isFgPalette() ? cell.getFgColor() : -1
  }
  throw new Error(`the terminal has no ${text}`)
}
const [red, green, magenta] = [1, 2, 5]

describe('files in the terminal UI', () => {
  it('sends the image of the clipboard and a dropped one as files, also after Alt+Up', async () => {
    const tools = join(cli.workdir, 'tools')
    mkdirSync(tools)
    writeFileSync(join(tools, 'dot.png'), png)
    writeFileSync(join(tools, 'wl-paste'), `#!/bin/sh\nexec cat '${join(tools, 'dot.png')}'\n`, { mode: 0o755 })
    const { screen, run } = await open('images', { environment: { PATH: `${tools}:${process.env['PATH']}` } })
    await using _ = screen
    screen.type(ctrlV)
    await screen.until(/❯ \[image #1, clipboard\.png\]/)
    screen.type(`run sleep 30\r`)
    await screen.until(/y once/)
    screen.type('y')
    await screen.until(/runs shell/)
    // A follow-up with a file goes back into the input whole.
    screen.type(`\u001b[200~${join(tools, 'dot.png')}\u001b[201~`)
    await screen.until(/❯ \[image #\d, dot\.png\]/)
    screen.type('count to 4\u001b\r')
    await screen.until(/then: count to 4/)
    screen.type(altUp)
    await screen.until(/❯ count to 4\n\s*\n {2}\[image #\d, dot\.png\]/)
    screen.type('\u001b')
    await screen.until(/interrupted/)
    screen.type('\r')
    await screen.untilWhole(/1, 2, 3, 4/)
    const { messages } = JSON.parse((await run('show', '@latest', '--json')).stdout) as {
      readonly messages: readonly { readonly kind: string; readonly parts?: readonly object[] }[]
    }
    const sent = messages.filter(({ kind }) => kind === 'user').map(({ parts }) => parts)
    const file = (name: string) => expect.objectContaining({ type: 'file', name, mediaType: 'image/png' })
    expect(sent).toEqual([
      expect.arrayContaining([file('clipboard.png')]),
      expect.arrayContaining([file('dot.png'), expect.objectContaining({ type: 'text', text: 'count to 4' })]),
    ])
  })

  it('completes the name of a file after @', async () => {
    const { screen, cwd } = await open('mention')
    await using _ = screen
    writeFileSync(join(cwd, 'harbour-notes.txt'), 'the tide is high')
    screen.type('read @harb')
    await screen.until(/❯ harbour-notes\.txt|❯ @harbour-notes\.txt/)
    screen.type('\t')
    await screen.until(/❯ read @?harbour-notes\.txt/)
    screen.type('\r')
    await screen.untilWhole(/❯ read @?harbour-notes\.txt[\s\S]*harbour-notes\.txt/)
  })
})

describe('going back in the terminal UI', () => {
  it('/undo takes back a turn with more messages than are loaded at first', async () => {
    const { screen, cwd, run } = await open('long')
    await using _ = screen
    screen.type('count to 2\r')
    await screen.untilWhole(/1, 2\./)
    screen.type('/quit\r')
    await screen.ended
    const calls = Array.from({ length: 120 }, (_, index) => `read nothing-${index}`)
    expect((await run('run', '-c', ['write made.txt: by the turn', ...calls].join('\n'), '--yes')).code).toBe(0)
    await using again = openTui(cli, ['-c'], { cwd, columns: 100, rows: 30 })
    await again.until(idle)
    again.type('/undo\r')
    await again.until(/Go back before turn 1\?[\s\S]*made\.txt/)
    again.type('y')
    await again.untilWhole(/now continues after turn 0/)
    await again.until(/read nothing-119\n {2}… 113 lines above, 0 below/)
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false)
  })
})

describe('questions in the terminal UI', () => {
  it('t covers the turn, s the session, and a the folder', async () => {
    const { screen, cwd } = await open('scopes')
    await using _ = screen
    const made = (...names: readonly string[]) => names.map((name) => existsSync(join(cwd, name)))
    const ask = async (prompt: string, key: string, answered: RegExp) => {
      screen.type(`${prompt}\r`)
      await screen.until(/allow write_file\?[\s\S]*y once/)
      screen.type(key)
      await screen.untilWhole(answered)
      await screen.until(idle)
    }
    const runsUnasked = async (prompt: string, answered: RegExp) => {
      screen.type(`${prompt}\r`)
      await screen.untilWhole(answered)
      await screen.until(idle)
    }
    screen.type('write a.txt: 1\n')
    await screen.until(/❯ write a\.txt: 1\n\s*\n/)
    screen.type('write b.txt: 2\r')
    await screen.until(/1 of 2[\s\S]*y once/)
    screen.type('t')
    await screen.untilWhole(/✓ write_file a\.txt[\s\S]*✓ write_file b\.txt/)
    await screen.until(idle)
    await ask('write c.txt: 3', 's', /✓ write_file c\.txt/)
    await runsUnasked('write d.txt: 4', /✓ write_file d\.txt/)
    screen.type('/new\r')
    await screen.untilWhole(/new session ──/)
    await ask('write e.txt: 5', 'a', /✓ write_file e\.txt/)
    screen.type('/new\r')
    await screen.untilWhole(/new session ──[\s\S]*new session ──/)
    await runsUnasked('write f.txt: 6', /✓ write_file f\.txt/)
    expect(made('a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt')).toEqual(Array(6).fill(true))
  })

  it('asks for a subagent, shows all of a long change with v, and draws diffs in colour', async () => {
    const { screen, cwd } = await open('child')
    await using _ = screen
    writeFileSync(join(cwd, 'old.txt'), Array.from({ length: 60 }, (_, row) => `row ${row}`).join('\n'))
    screen.type('delegate delete old.txt\r')
    await screen.until(/subagent \w+-\w+-\d+: allow delete_file\?[\s\S]*y once/)
    expect(colourOf(screen, '-row 0')).toBe(red)
    await screen.until(/rows are hidden: v shows all of it/)
    screen.type('v')
    await screen.until(/allow delete_file\?[\s\S]*-row 20/)
    screen.type('G')
    await screen.until(/-row 40[\s\S]*-row 59/)
    screen.type('q')
    await screen.until(/y once/)
    screen.type('y')
    await screen.untilWhole(/✓ subagent/)
    expect(existsSync(join(cwd, 'old.txt'))).toBe(false)
    await screen.until(idle)
    screen.type('write new.txt: fresh\r')
    await screen.until(/\+fresh[\s\S]*y once/)
    expect(colourOf(screen, '+fresh')).toBe(green)
  })
})

describe('the transcript and the models of the terminal UI', () => {
  it('folds and opens long cards, pins a message, and draws code in colour', async () => {
    const { screen, cwd, run } = await open('cards')
    await using _ = screen
    screen.type('run seq 101 150\r')
    await screen.until(/y once/)
    screen.type('y')
    await screen.untilWhole(/✓ shell seq 101 150[\s\S]*rows before \(Ctrl\+O\)[\s\S]*150/)
    await screen.until(idle)
    screen.type(ctrlO)
    await screen.until(/Transcript/)
    screen.type('g')
    await screen.until(/✓ shell seq 101 150[\s\S]*rows before/)
    screen.type('e')
    await screen.until(/│ 103$/m)
    screen.type('e')
    await screen.untilNot(/│ 103$/m)
    // Enter opens the chosen one only.
    for (let presses = 0; presses < 8 && !/▎✓ shell/.test(screen.text()); presses++) {
      const before = screen.text()
      screen.type('\u001b[Z')
      await screen.untilNot(new RegExp(`^${RegExp.escape(before)}$`))
    }
    screen.type('\r')
    await screen.until(/▎ {2}│ 103$/m)
    screen.type('\r')
    await screen.untilNot(/▎ {2}│ 103$/m)
    screen.type('p')
    await screen.until(/★ pinned/)
    screen.type('q')
    await screen.until(idle)
    // Context and cost: the demo costs nothing.
    await screen.until(/ {2}exec · demo\/agent · [▰▱]{5} \d+% \d[\d.]*k? · \$0\.00 /)
    screen.type('/quit\r')
    await screen.ended

    const code = '```ts\nconst tide = "high"\n```'
    const messages = JSON.stringify([
      { role: 'user', content: 'show code' },
      { role: 'assistant', content: code },
    ])
    expect(await run('tell', '@latest', 'seedMessages', `messages=${messages}`)).toMatchObject({ code: 0 })
    await using again = openTui(cli, ['-c'], { cwd, columns: 100, rows: 30 })
    await again.untilWhole(/const tide = "high"/)
    // The colours are loaded when the first code is shown.
    await expect.poll(() => [colourOf(again, 'const tide'), colourOf(again, '"high"')]).toEqual([magenta, green])
  })

  it('chooses a model from the list, and goes through a rotation with Ctrl+P', async () => {
    mkdirSync(join(cli.home, 'config'), { recursive: true })
    writeFileSync(
      join(cli.home, 'config/config.json'),
      JSON.stringify({
        providers: { box: { baseUrl: 'http://127.0.0.1:9' } },
        models: { 'box/small': { contextTokens: 65_536, price: { input: 1, output: 2 } } },
      }),
    )
    const { screen } = await open('models')
    await using _ = screen
    screen.type(ctrlP)
    await screen.until(/Models[\s\S]*box\/small/)
    screen.type('small')
    await screen.until(/❯ box\/small/)
    screen.type('\r')
    await screen.until(/ {2}exec · box\/small/)
    screen.type(`${ctrlU}/quit\r`)
    await screen.ended

    const rotated = await open('rotation', { environment: { HOLDFAST_ROTATION: 'demo/agent,box/small' } })
    await using __ = rotated.screen
    rotated.screen.type(ctrlP)
    await rotated.screen.until(/ {2}exec · box\/small/)
    rotated.screen.type(ctrlP)
    await rotated.screen.until(/ {2}exec · demo\/agent/)
  })
})
