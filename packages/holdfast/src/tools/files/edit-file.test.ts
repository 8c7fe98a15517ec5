import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { applyDiffTool } from './apply-diff.ts'
import { editFileTool } from './edit-file.ts'

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
    ['not found', 'one\n', 'two', /^no_match: old_text is not found/],
    ['not found for its indent', 'one\n', '  one  ', /The nearest place is line 1:/],
    ['found more than once', 'x\ny\nx\n\nx', 'x', /found 3 times, at lines 1, 3, 5; include more of/],
    ['found more than once, overlapping', 'aaa', 'aa', /^ambiguous: .*found 2 times, at lines 1, 1;/],
    ['found very often', 'x\n'.repeat(50), 'x', /found 50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;/],
    ['in an empty file', '', 'x', /not found/],
  ])('refuses old_text that is %s and leaves the file unchanged', async (_, content, oldText, words) => {
    const edited = await edit(content, oldText, 'z')
    expect(edited.prepared).toEqual({ type: 'unusable', message: expect.stringMatching(words), quotesFile: true })
    expect(edited.result).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(words) } })
    expect(edited.content.toString('utf8')).toBe(content)
  })

  it('writes a line feed of a name as an escape, so that no name makes a line of the result', async () => {
    const { workdir } = await openWorkdir()
    const path = 'a\n[ok] b'
    await writeFile(join(workdir, path), 'one\n')
    const args = { path, old_text: 'one', new_text: '1' }
    expect(await editFileTool.run(args, { workdir }, createToolRun().run)).toMatchObject({
      output: { text: expect.stringMatching(/^edited a\\n\[ok\] b /) },
    })
    const missing = await editFileTool.prepare({ ...args, path: 'no\n[ok]' }, { workdir }, notAborted)
    expect(missing).toMatchObject({ message: expect.not.stringContaining('\n[ok]') })
  })

  it('refuses a NUL, which would make the file binary', async () => {
    expect((await edit('one', 'one', 'o\0e')).prepared).toMatchObject({ message: expect.stringContaining('NUL') })
  })

  it('refuses an edit that changes nothing, and an empty old_text', async () => {
    expect((await edit('x', 'x', 'x')).prepared).toMatchObject({ message: expect.stringContaining('nothing would') })
    expect((await edit('x', '', 'x')).prepared).toMatchObject({
      message: expect.stringContaining('old_text must not be empty'),
    })
  })

  it('edits ASCII text of a file in an unknown encoding, and no other', async () => {
    const latin = Buffer.from('caf\xe9 x', 'latin1')
    expect((await edit(latin, 'x', 'y')).content).toEqual(Buffer.from('caf\xe9 y', 'latin1'))
    const refused = await edit(latin, 'x', 'ż')
    expect(refused.prepared).toMatchObject({ message: expect.stringContaining('only ASCII') })
    expect(refused.content).toEqual(latin)
  })

  it('keeps UTF-16 and its byte-order mark', async () => {
    const { content } = await edit(Buffer.from('\ufeffżółw\r\n', 'utf16le'), 'żółw', 'żółwik')
    expect(content).toEqual(Buffer.from('\ufeffżółwik\r\n', 'utf16le'))
  })

  it('keeps the byte-order mark when apply_diff changes the first line (D25)', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), '\ufeffa\nb\n')
    const args = { path: 'f', diff: '@@\n-a\n+A\n b' }
    expect((await applyDiffTool.run(args, { workdir }, createToolRun().run)).type).toBe('ok')
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('\ufeffA\nb\n')
  })

  it('refuses a file that is not text, or too long, and leaves it unchanged', async () => {
    expect((await edit('a\0x', 'x', 'y')).prepared).toMatchObject({ message: expect.stringContaining('binary') })
    expect((await edit(Buffer.alloc(17 * 1024 * 1024, 'a'), 'x', 'y')).prepared).toMatchObject({
      message: expect.stringMatching(/^too_large: /),
    })
  })

  it('shows the changed lines with their numbers, and how they were found', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
    const { result } = await edit(`${lines.join('\n')}\n`, 'line 9\nline 10 \n', 'line 9\nten\n10\n')
    expect(result.output.text).toBe(
      [
        'edited f (+2 −1)',
        '[old_text was found by ignoring blanks at the ends of lines]',
        '7\tline 7\n8\tline 8\n9\tline 9\n10\tten\n11\t10\n12\tline 11\n13\tline 12\n14\tline 13',
      ].join('\n'),
    )
  })

  it('replaces every occurrence if asked to', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'a b a\na\n')
    const args = { path: 'f', old_text: 'a', new_text: 'x', replace_all: true }
    const { output } = await editFileTool.run(args, { workdir }, createToolRun().run)
    expect(output.text).toContain('[3 places were replaced]')
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('x b x\nx\n')
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
