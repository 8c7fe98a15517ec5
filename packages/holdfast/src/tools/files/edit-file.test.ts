import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { editFileTool } from './edit-file.ts'
import { replaceOnce } from './file-change.ts'

async function edit(content: string | Uint8Array, old_text: string, new_text: string) {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), content)
  const args = { path: 'f', old_text, new_text }
  const prepared = await editFileTool.prepare(args, { workdir }, notAborted)
  const result = await editFileTool.run(args, { workdir }, createToolRun().run)
  return { prepared, result, content: await readFile(join(workdir, 'f')) }
}

const edits = [
  ['a passage', 'one\ntwo\nthree\n', 'two', '2', 'one\n2\nthree\n'],
  ['CRLF lines and only what was meant', 'one\r\ntwo\r\n', 'one\r\n', '1\n', '1\ntwo\r\n'],
  ['the last line without a line feed', 'one\ntwo', 'two', 'two\n', 'one\ntwo\n'],
  ['behind a byte-order mark, which stays', '\ufeffone', 'one', 'two', '\ufefftwo'],
  ['with dollar signs taken as they are', 'price', 'price', "$& $1 $' $$", "$& $1 $' $$"],
  ['all of a file away', 'gone', 'gone', '', ''],
  ['characters beyond the basic plane', 'a🐢b', '🐢', '🐇', 'a🐇b'],
] as const

describe('edit_file', () => {
  it.each(edits)('edits %s', async (_, content, oldText, newText, expected) => {
    const edited = await edit(content, oldText, newText)
    expect(edited.result).toMatchObject({ type: 'ok', files: [{ path: 'f', change: 'modified' }] })
    expect(edited.content.toString('utf8')).toBe(expected)
  })

  it('shows the edit as a diff', async () => {
    const { prepared } = await edit('one\ntwo\n', 'two', '2')
    expect(prepared).toMatchObject({
      preview: { type: 'diff', path: 'f', diff: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n' },
    })
  })

  it.each([
    ['not found', 'one\n', 'two', /^bad_request: old_text is not found/],
    ['not found for its line ends', 'one\r\ntwo\r\n', 'one\ntwo', /end with \\r\\n/],
    ['not found for its blanks', 'one\n', '  one  ', /without the blanks/],
    ['found more than once', 'x\ny\nx\n\nx', 'x', /found 3 times, at lines 1, 3, 5; include more of/],
    ['found more than once, overlapping', 'aaa', 'aa', /found 2 times, at lines 1, 1;/],
    ['found very often', 'x\n'.repeat(50), 'x', /found 50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;/],
    ['in an empty file', '', 'x', /not found/],
  ])('refuses old_text that is %s and leaves the file unchanged', async (_, content, oldText, words) => {
    const edited = await edit(content, oldText, 'z')
    expect(edited.prepared).toEqual({ type: 'unusable', message: expect.stringMatching(words) })
    expect(edited.result).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(words) } })
    expect(edited.content.toString('utf8')).toBe(content)
  })

  it('refuses an edit that changes nothing, and an empty old_text', async () => {
    expect((await edit('x', 'x', 'x')).prepared).toMatchObject({ message: expect.stringContaining('nothing would') })
    expect((await edit('x', '', 'x')).prepared).toMatchObject({
      message: expect.stringContaining('old_text must not be empty'),
    })
  })

  it('refuses a file that is not text and leaves it unchanged', async () => {
    const latin = Buffer.from('caf\xe9 x', 'latin1')
    const edited = await edit(latin, 'x', 'y')
    expect(edited.prepared).toMatchObject({ message: expect.stringContaining('not valid UTF-8') })
    expect(edited.content).toEqual(latin)
    expect((await edit('a\0x', 'x', 'y')).prepared).toMatchObject({ message: expect.stringContaining('binary') })
    expect((await edit(Buffer.alloc(5 * 1024 * 1024, 'a'), 'x', 'y')).prepared).toMatchObject({
      message: expect.stringMatching(/^too_large: /),
    })
  })

  it('refuses an edit that no longer matches when it runs', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one')
    const args = { path: 'f', old_text: 'one', new_text: 'two' }
    expect(await editFileTool.prepare(args, { workdir }, notAborted)).toMatchObject({ type: 'ready' })
    const { run } = createToolRun({ begin: () => writeFile(join(workdir, 'f'), 'changed by others') })
    expect(await editFileTool.run(args, { workdir }, run)).toMatchObject({ type: 'failed' })
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('changed by others')
  })
})

it('replaces only a unique occurrence', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12 })
  fc.assert(
    fc.property(
      word,
      word.filter((text) => text !== ''),
      word,
      (text, oldText, newText) => {
        const starts = [...text].flatMap((_, at) => (text.startsWith(oldText, at) ? [at] : []))
        const replaced = replaceOnce(text, { oldText, newText })
        expect(replaced.ok).toBe(starts.length === 1)
        const [at = 0] = starts
        if (replaced.ok) expect(replaced.value).toBe(text.slice(0, at) + newText + text.slice(at + oldText.length))
      },
    ),
  )
})
