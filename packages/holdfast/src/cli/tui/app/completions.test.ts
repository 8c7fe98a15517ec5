import type { FoundPath, Result } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { emptyEditor, withText } from '../input/editor.ts'
import type { App } from './app-state.ts'
import { chooseNext, updateCompletions } from './completions.ts'

it('Tab after fast typing waits for the names of what was typed, and takes none of an older list', async () => {
  const asked: { readonly text: string; readonly answer: (paths: readonly FoundPath[]) => void }[] = []
  const drawn: (() => void)[] = []
  // Only what completions use.
  const app = {
    focus: { type: 'prompt' },
    editor: emptyEditor,
    completions: null,
    handle: {},
    redraw: () => drawn.shift()?.(),
    reached: {
      completePath: (_: unknown, text: string) =>
        new Promise<Result<{ readonly paths: readonly FoundPath[] }>>((resolve) => {
          asked.push({ text, answer: (paths) => resolve({ ok: true, value: { paths } }) })
        }),
    },
  } as unknown as App
  const type = (text: string) => {
    app.editor = withText(app.editor, text)
    updateCompletions(app)
  }
  const answered = (index: number, paths: readonly string[]) =>
    new Promise<void>((resolve) => {
      drawn.push(resolve)
      asked[index]?.answer(paths.map((path) => ({ path, type: 'file' as const })))
    })

  type('see @')
  await answered(0, ['a.txt', 'hello.txt'])
  type('see @he')
  chooseNext(app)
  expect(app.editor.text).toBe('see @he')
  await answered(1, ['hello.txt'])
  expect(app.editor.text).toBe('see @hello.txt ')
})
