import { expect, it } from 'vitest'
import { emptyEditor, withText } from './editor.ts'
import { layOutEditor, moveByRow } from './editor-layout.ts'

it('keeps the joiners of Persian and emoji in the input, and shows those that hide something', () => {
  const shown = (text: string) =>
    layOutEditor(withText(emptyEditor, text), 60, 5).rows.map((row) => row.map((span) => span.text).join(''))
  expect(shown('می‌خواهم 👨‍💻')).toEqual(['می‌خواهم 👨‍💻'])
  expect(shown('ad\u200dmin')).toEqual(['ad\\u{200d}min'])
})

it('counts the lines that are not shown, and goes up to the first row and down to the last one', () => {
  const text = Array.from({ length: 121 }, (_, index) => `line ${index}`).join('\n')
  let editor = withText(emptyEditor, text)
  const layout = () => layOutEditor(editor, 60, 8)
  expect(layout()).toMatchObject({ above: 113, below: 0, caret: { row: 7 } })
  const move = (by: 1 | -1): number => {
    for (let moves = 0; ; moves++) {
      const moved = moveByRow(editor, layout(), by, 60)
      if (moved === null) return moves
      editor = moved
    }
  }
  expect(move(-1)).toBe(120)
  expect(layout()).toMatchObject({ above: 0, below: 113, caret: { row: 0 } })
  expect(move(1)).toBe(120)
})
