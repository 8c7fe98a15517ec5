import { expect, it } from 'vitest'
import { emptyEditor, withText } from './editor.ts'
import { layOutEditor } from './editor-layout.ts'

it('keeps the joiners of Persian and emoji in the input, and shows those that hide something', () => {
  const shown = (text: string) =>
    layOutEditor(withText(emptyEditor, text), 60, 5).rows.map((row) => row.map((span) => span.text).join(''))
  expect(shown('می‌خواهم 👨‍💻')).toEqual(['می‌خواهم 👨‍💻'])
  expect(shown('ad\u200dmin')).toEqual(['ad\\u{200d}min'])
})
