import { expect, it } from 'vitest'
import { createMarkdownPrinter } from './markdown-printer.ts'

it('prints blocks once they are final, and the rest at the end', () => {
  const printer = createMarkdownPrinter(40, false)
  const early = ['# Lamp\n\nIt **bli', 'nks**.\n', '\n- one\n', '\nThe end', ' comes'].map(printer.add).join('')
  expect(early).toContain('\u001b[1mLamp\u001b[0m\n')
  expect(early).not.toContain('comes')
  expect(early + printer.end()).toBe(
    '\u001b[1mLamp\u001b[0m\n\nIt \u001b[1mblinks\u001b[0m.\n\n• one\n\nThe end comes\n',
  )
  expect(printer.add('next') + printer.end()).toBe('next\n')
})

it('wraps at words to the width of the terminal, and shows control characters as text', () => {
  const printer = createMarkdownPrinter(20, false)
  const shown = printer.add(`${'word '.repeat(10)}\u001b[2J`) + printer.end()
  expect(Math.max(...shown.split('\n').map((row) => row.length))).toBeLessThanOrEqual(20)
  expect(shown).not.toContain('\u001b[2J')
})
