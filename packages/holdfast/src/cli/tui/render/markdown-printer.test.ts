import { stripVTControlCharacters } from 'node:util'
import { Terminal } from '@xterm/headless'
import { expect, it } from 'vitest'
import { createMarkdownPrinter } from './markdown-printer.ts'

/** For a terminal whose cursor cannot be moved. */
const createPlain = (columns: number) =>
  createMarkdownPrinter({ columns, isColoured: false, rows: () => null, now: () => 0 })

it('prints blocks once they are final, and the rest at the end', () => {
  const printer = createPlain(40)
  const early = ['# Lamp\n\nIt **bli', 'nks**.\n', '\n- one\n', '\nThe end', ' comes'].map(printer.add).join('')
  expect(early).toContain('\u001b[1mLamp\u001b[0m\n')
  expect(early).not.toContain('comes')
  expect(early + printer.end()).toBe(
    '\u001b[1mLamp\u001b[0m\n\nIt \u001b[1mblinks\u001b[0m.\n\n• one\n\nThe end comes\n',
  )
  expect(printer.add('next') + printer.end()).toBe('next\n')
})

it('formats an answer of any length, and prints each of its blocks once', () => {
  const printer = createPlain(40)
  const parts = Array.from({ length: 4000 }, (_, index) => `# Part ${index}\n\nSome **words** here.\n\n`)
  const chunks = Array.from({ length: 40 }, (_, index) => parts.slice(index * 100, (index + 1) * 100).join(''))
  const shown = chunks.map(printer.add).join('') + printer.end()
  expect(chunks.join('').length).toBeGreaterThan(120_000)
  expect(shown.match(/\u001b\[1mPart \d+\u001b/g)).toEqual(parts.map((_, index) => `\u001b[1mPart ${index}\u001b`))
  expect(shown).not.toContain('**')
})

it('wraps at words to the width of the terminal, and shows control characters as text', () => {
  const printer = createPlain(20)
  const shown = printer.add(`${'word '.repeat(10)}\u001b[2J`) + printer.end()
  expect(Math.max(...shown.split('\n').map((row) => row.length))).toBeLessThanOrEqual(20)
  expect(shown).not.toContain('\u001b[2J')
})

it('shows an unfinished block as it grows, and takes it back for the final one', async () => {
  const screen = new Terminal({ cols: 20, rows: 6, scrollback: 100, allowProposedApi: true, convertEol: true })
  let nowMs = 0
  const printer = createMarkdownPrinter({ columns: 20, isColoured: false, rows: () => 6, now: () => nowMs })
  const show = (text: string) => new Promise<void>((resolve) => screen.write(text, resolve))
  const lines = () => {
    const { active } = screen.buffer
    const all = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
    return all.join('\n').trimEnd()
  }
  const add = async (text: string) => {
    nowMs += 50
    await show(printer.add(text))
  }
  await add('# Lamp\n\nIt **bli')
  expect(lines()).toBe('Lamp\n\nIt **bli')
  await show(printer.add('nks'))
  expect(lines()).toBe('Lamp\n\nIt **bli') // too soon
  await add('** again')
  expect(lines()).toBe('Lamp\n\nIt blinks again')
  await add(` and again${' and again'.repeat(20)}`) // more rows than the terminal has
  expect(lines()).toContain('and again')
  await add('.\n\nThe end')
  await show(printer.end())
  const words = `It blinks again${' and again'.repeat(21)}. The end`
  expect(lines().split(/\s+/).join(' ')).toBe(`Lamp ${words}`)
})

it('draws the rule of a table below its head, also if cells wrap', () => {
  const printer = createPlain(30)
  const text = '| one head | two |\n|---|---|\n| aaaa bbbb cccc dddd eeee ffff | gggg hhhh iiii jjjj |\n'
  const rows = stripVTControlCharacters(printer.add(text) + printer.end()).split('\n')
  expect(rows[0]).toMatch(/^one head +│ two/)
  expect(rows[1]).toMatch(/^─+┼─+$/)
  expect(rows[2]).toContain('aaaa')
})
