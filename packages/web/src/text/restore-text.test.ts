import { describe, expect, it } from 'vitest'
import { doneText } from './restore-text.ts'

describe('what a restore has done', () => {
  it.each([
    [{ isUndo: false, changed: 1, refused: 0 }, '1 file put back.'],
    [{ isUndo: false, changed: 2, refused: 1 }, '2 files put back. 1 file left alone.'],
    [{ isUndo: false, changed: 0, refused: 2 }, 'Nothing was changed. 2 files left alone.'],
    [{ isUndo: true, changed: 1, refused: 0 }, 'Undone: 1 file is as before the restore.'],
    [{ isUndo: true, changed: 3, refused: 1 }, 'Undone: 3 files are as before the restore. 1 file left alone.'],
    [{ isUndo: true, changed: 0, refused: 1 }, 'Nothing was changed. 1 file left alone.'],
  ])('%o is %j', (done, text) => {
    expect(doneText(done)).toBe(text)
  })
})
