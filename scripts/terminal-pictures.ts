import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createCli } from '../packages/holdfast/src/cli/testing/cli-process.ts'
import { openTui, type TuiScreen } from '../test/e2e/tui-screen.ts'
import { buildProgram } from '../test/test-build.ts'

/** Makes the pictures of docs/terminal.md: runs the terminal UI with the demo model, and draws its screen as SVG. */
const folder = resolve(import.meta.dirname, '../docs/pictures')
const [cellWidth, cellHeight, margin] = [8.4, 18, 12]
const palette = ['#1d1f21', '#f2777a', '#99cc99', '#e6c07b', '#7aa6da', '#c397d8', '#70c0b1', '#d6d6d6']
const [ground, ink] = ['#16181b', '#d6d6d6']

type Cell = NonNullable<
  ReturnType<NonNullable<ReturnType<TuiScreen['terminal']['buffer']['active']['getLine']>>['getCell']>
>

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function styleOf(cell: Cell): string {
  const colour = cell.isFgPalette() ? (palette[cell.getFgColor() % 8] ?? ink) : ink
  const isInverse = cell.isInverse() !== 0
  return [
    `fill="${isInverse ? ground : colour}"`,
    ...(cell.isBold() ? ['font-weight="bold"'] : []),
    ...(cell.isItalic() ? ['font-style="italic"'] : []),
    ...(cell.isDim() ? ['opacity="0.6"'] : []),
    ...(cell.isUnderline() ? ['text-decoration="underline"'] : []),
  ].join(' ')
}

/** Returns the visible screen as SVG. */
function toSvg({ terminal }: TuiScreen, title: string): string {
  const { active } = terminal.buffer
  const parts: string[] = []
  for (let row = 0; row < terminal.rows; row++) {
    const found = active.getLine(active.viewportY + row)
    const y = margin + row * cellHeight
    let run = { text: '', style: '', column: 0 }
    const flush = () => {
      if (run.text.trim() !== '')
        parts.push(
          `<text x="${(margin + run.column * cellWidth).toFixed(1)}" y="${y + 13}" ${run.style}>${escapeXml(run.text)}</text>`,
        )
      run = { text: '', style: '', column: 0 }
    }
    for (let column = 0; column < terminal.cols; column++) {
      const cell = found?.getCell(column)
      if (!cell || cell.getWidth() === 0) continue
      if (cell.isInverse())
        parts.push(
          `<rect x="${(margin + column * cellWidth).toFixed(1)}" y="${y}" width="${cellWidth}" height="${cellHeight}" fill="${ink}"/>`,
        )
      const style = styleOf(cell)
      if (run.style !== style) {
        flush()
        run = { text: '', style, column }
      }
      run.text += cell.getChars() || ' '
    }
    flush()
  }
  const width = Math.ceil(terminal.cols * cellWidth + 2 * margin)
  const height = terminal.rows * cellHeight + 2 * margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${ground}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

const titles = {
  approval: 'A change that waits for an answer',
  answer: 'An answer after a tool call',
  commands: 'The list of slash commands',
  sessions: 'Searching all sessions',
} as const

const picture = (screen: TuiScreen, name: keyof typeof titles): void => {
  // The folder of a trial has a random name.
  writeFileSync(join(folder, `terminal-${name}.svg`), toSvg(screen, titles[name]).replaceAll(cli.workdir, '~/lamp'))
  process.stdout.write(`${name}\n${screen.text()}\n`)
}

process.env['HOLDFAST_TEST_BUILD'] ??= await buildProgram()
mkdirSync(folder, { recursive: true })
using cli = createCli()
writeFileSync(join(cli.workdir, 'lamp.ts'), 'export const watts = 40\n')
await cli.run(['run', 'search watts'])
await cli.run(['run', 'count to 12'])

await using screen = openTui(cli, [], { columns: 84, rows: 26 })
await screen.until(/demo\/agent/)
screen.type('read lamp.ts\r')
await screen.untilWhole(/returned/)
await screen.until(/❯\s*\n {2}exec · demo/)
screen.type('edit lamp.ts: 40 => 60\r')
await screen.until(/y once/)
picture(screen, 'approval')
screen.type('y')
await screen.untilWhole(/✓ edit_file/)
await screen.until(/❯\s*\n {2}exec · demo/)
picture(screen, 'answer')
screen.type('/')
await screen.until(/\/branches/)
picture(screen, 'commands')
screen.type('\u0015')
await screen.untilNot(/\/branches/)
screen.resize(110, 26)
screen.type('\u0012')
await screen.until(/Sessions of[\s\S]*count to 12/)
screen.type('watts')
await screen.untilNot(/count to 12/)
await screen.until(/❯ read lamp\.ts[\s\S]*│ ❯ read lamp/)
picture(screen, 'sessions')
