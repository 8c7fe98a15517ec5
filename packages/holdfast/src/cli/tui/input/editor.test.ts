import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Editor, editByKey, emptyEditor, insert, withText } from './editor.ts'
import { layOutEditor, moveByRow } from './editor-layout.ts'

const at = (text: string): Editor => {
  const caret = text.indexOf('|')
  return { ...emptyEditor, text: text.replace('|', ''), caret }
}
const shown = ({ text, caret }: Editor) => `${text.slice(0, caret)}|${text.slice(caret)}`
const press = (text: string, ...keys: readonly string[]) =>
  shown(keys.reduce((editor, key) => editByKey(editor, key) ?? editor, at(text)))

describe('editing', () => {
  it.each([
    ['ab|c', ['left'], 'a|bc'],
    ['ab|c', ['right'], 'abc|'],
    ['a👍|c', ['backspace'], 'a|c'],
    ['|👍c', ['delete'], '|c'],
    ['one two|', ['ctrl+w'], 'one |'],
    ['one two|', ['ctrl+w', 'ctrl+y'], 'one two|'],
    ['one two|', ['alt+b'], 'one |two'],
    ['|one two', ['alt+f'], 'one| two'],
    ['a\nb|c', ['ctrl+a'], 'a\n|bc'],
    ['a\n|bc', ['ctrl+e'], 'a\nbc|'],
    ['a\nb|c', ['ctrl+u'], 'a\n|c'],
    ['a|b\nc', ['ctrl+k'], 'a|\nc'],
    ['a|\nc', ['ctrl+k'], 'a|c'],
    ['abc|', ['backspace', 'ctrl+_'], 'abc|'],
    ['see [pasted #1, 9 lines]|', ['backspace'], 'see |'],
  ])('%j after %j is %j', (before, keys, after) => {
    expect(press(before, ...keys)).toBe(after)
  })

  it('never leaves the text, whatever keys are pressed', () => {
    const keys = [
      'left',
      'right',
      'backspace',
      'delete',
      'ctrl+w',
      'alt+d',
      'ctrl+u',
      'ctrl+k',
      'ctrl+y',
      'ctrl+_',
      'home',
      'end',
      'alt+b',
      'alt+f',
    ]
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.constantFrom(...keys)), (text, pressed) => {
        let editor = insert(emptyEditor, text)
        for (const key of pressed) {
          editor = editByKey(editor, key) ?? editor
          expect(editor.caret).toBeGreaterThanOrEqual(0)
          expect(editor.caret).toBeLessThanOrEqual(editor.text.length)
        }
      }),
    )
  })
})

describe('the input box', () => {
  it('wraps at its edge, with the caret in its place', () => {
    const layout = layOutEditor(at('abcdef|gh'), 4, 5)
    expect(layout.rows.map((row) => row[0]?.text)).toEqual(['abcd', 'efgh'])
    expect(layout.caret).toEqual({ row: 1, column: 2 })
  })

  it('gives a caret after a full row a row of its own', () => {
    expect(layOutEditor(at('abcd|'), 4, 5).caret).toEqual({ row: 1, column: 0 })
  })

  it('shows the rows around the caret of a long text', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
    const layout = layOutEditor(withText(emptyEditor, text), 20, 3)
    expect(layout.rows.map((row) => row[0]?.text)).toEqual(['line 97', 'line 98', 'line 99'])
    expect(layout.caret.row).toBe(2)
  })

  it('shows control characters as escapes', () => {
    expect(layOutEditor(at('a\u001b[2Jb|'), 40, 3).rows[0]?.[0]?.text).toBe('a\\u{1b}[2Jb')
  })

  it('moves by rows and stops at the first and the last', () => {
    const editor = at('abc\nde|f')
    const layout = layOutEditor(editor, 10, 5)
    const up = moveByRow(editor, layout, -1, 10)
    expect(up && shown(up)).toBe('ab|c\ndef')
    expect(moveByRow(editor, layout, 1, 10)).toBeNull()
  })
})
