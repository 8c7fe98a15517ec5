import { createHash } from 'node:crypto'
import { chmod, link, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolBlobs } from '@holdfast/core/ports'
import { BlobHash, limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { maskedTool } from '../define/masked-tool.ts'
import { applyDiffTool } from './apply-diff.ts'
import { deleteFileTool } from './delete-file.ts'
import { editFileTool } from './edit-file.ts'
import { moveFileTool } from './move-file.ts'
import { multiEditFileTool } from './multi-edit-file.ts'
import { writeFileTool } from './write-file.ts'

const hashOf = (text: string) => BlobHash.parse(createHash('sha256').update(text).digest('hex'))

/** Blobs in memory, and what was in the workdir when each was stored. */
function createBlobs(file: string) {
  const stored = new Map<string, string>()
  const then: string[] = []
  const blobs: ToolBlobs = {
    async put(bytes) {
      const text = Buffer.from(bytes).toString()
      stored.set(hashOf(text), text)
      then.push(await readFile(file, 'utf8'))
      return { hash: hashOf(text), bytes: bytes.length }
    },
    open: () => Promise.reject(new Error('nothing is read')),
  }
  return { blobs, stored, then }
}

async function openFiles(content = 'one\ntwo\n') {
  const { workdir } = await openWorkdir()
  const file = join(workdir, 'f')
  await writeFile(file, content)
  await chmod(file, 0o640)
  return { workdir, file, ...createBlobs(file) }
}

describe('a change of a file', () => {
  const before = { type: 'file', hash: hashOf('one\ntwo\n'), mode: 0o640 }
  it.each([
    ['write_file', writeFileTool, { path: 'f', content: 'new\n' }, { change: 'modified', after: hashOf('new\n') }],
    [
      'edit_file',
      editFileTool,
      { path: 'f', old_text: 'one', new_text: '1' },
      { change: 'modified', after: hashOf('1\ntwo\n') },
    ],
    [
      'apply_diff',
      applyDiffTool,
      { path: 'f', diff: '@@\n-one\n+1\n' },
      { change: 'modified', after: hashOf('1\ntwo\n') },
    ],
    ['delete_file', deleteFileTool, { path: 'f' }, { change: 'deleted' }],
    [
      'move_file',
      moveFileTool,
      { path: 'f', new_path: 'd/g' },
      { path: 'd/g', from: 'f', change: 'moved', after: before.hash },
    ],
  ])('by %s stores what was there before it changes anything', async (_, tool, args, expected) => {
    const { workdir, blobs, stored, then } = await openFiles()
    const result = await tool.run(args, { workdir }, createToolRun({ blobs }).run)
    expect(result).toMatchObject({ type: 'ok', files: [{ before, ...expected }] })
    expect(stored.get(before.hash)).toBe('one\ntwo\n')
    expect(then).toEqual(['one\ntwo\n'])
  })

  it.each([
    ['delete_file', deleteFileTool, { path: 'f' }],
    ['move_file', moveFileTool, { path: 'f', new_path: 'g' }],
  ])('by %s stores a file up to the limit that it names', async (_, tool, args) => {
    const before = async (bytes: number) => {
      const { workdir, blobs } = await openFiles('x'.repeat(bytes))
      return (await tool.run(args, { workdir }, createToolRun({ blobs }).run)).files?.[0]?.before
    }
    expect(await before(limits.beforeImageBytesMax)).toMatchObject({ type: 'file' })
    const why = `it has ${limits.beforeImageBytesMax + 1} bytes; up to ${limits.beforeImageBytesMax} are kept to undo a change`
    expect(await before(limits.beforeImageBytesMax + 1)).toEqual({ type: 'not_kept', why })
  })

  it('that holds an API key is not stored, and says so', async () => {
    registerKey('sk-0123456789-before')
    const { workdir, blobs } = await openFiles('KEY=sk-0123456789-before\n')
    const result = await maskedTool(deleteFileTool).run({ path: 'f' }, { workdir }, createToolRun({ blobs }).run)
    expect(result.files).toMatchObject([{ before: { type: 'not_kept', why: 'it holds an API key' } }])
  })

  it('with other hard links is made in place, asked about each time, and says so', async () => {
    const { workdir, file, blobs } = await openFiles()
    await link(file, join(workdir, 'twin'))
    const args = { path: 'f', old_text: 'one', new_text: '1' }
    expect(await editFileTool.prepare(args, { workdir }, notAborted)).toMatchObject({
      alwaysAsk: 'f has 2 hard links, and every one of them changes',
    })
    const result = await editFileTool.run(args, { workdir }, createToolRun({ blobs }).run)
    expect(result.output.text).toContain('[written in place, because it has 2 hard links]')
    expect(await readFile(join(workdir, 'twin'), 'utf8')).toBe('1\ntwo\n')
  })
})

describe('multi_edit_file', () => {
  const edits = (...pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([old_text, new_text]) => ({ old_text, new_text }))

  it('makes all edits, each on what the one before has left', async () => {
    const { workdir, file } = await openFiles()
    const args = { path: 'f', edits: edits(['two', 'three'], ['one\nthree', 'done']) }
    expect(await multiEditFileTool.run(args, { workdir }, createToolRun().run)).toMatchObject({ type: 'ok' })
    expect(await readFile(file, 'utf8')).toBe('done\n')
  })

  it('makes no edit if one does not fit, and names it', async () => {
    const { workdir, file } = await openFiles()
    const args = { path: 'f', edits: edits(['one', '1'], ['nine', '9']) }
    expect(await multiEditFileTool.run(args, { workdir }, createToolRun().run)).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/^no_match: edit 2 of 2 \(no edit was made\): old_text is not found/) },
    })
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\n')
  })
})

describe('delete_file', () => {
  it('shows all lines in its preview', async () => {
    const { workdir } = await openFiles()
    expect(await deleteFileTool.prepare({ path: 'f' }, { workdir }, notAborted)).toMatchObject({
      preview: { type: 'diff', path: 'f', diff: '--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n' },
    })
  })

  it('deletes a link, not its target, also if it leads out or nowhere', async () => {
    const { workdir, file } = await openFiles()
    for (const target of ['f', '/etc/passwd', 'nowhere']) {
      await symlink(target, join(workdir, 'link'))
      const prepared = await deleteFileTool.prepare({ path: 'link' }, { workdir }, notAborted)
      expect(prepared).toMatchObject({ preview: { diff: `Deletes the link link -> ${target}, not its target.\n` } })
      expect(await deleteFileTool.run({ path: 'link' }, { workdir }, createToolRun().run)).toMatchObject({
        files: [{ path: 'link', change: 'deleted', before: { type: 'link', target } }],
      })
    }
    expect(await readdir(workdir)).toEqual(['f'])
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\n')
  })

  it('refuses directories, what is not there, and a file that changed meanwhile', async () => {
    const { workdir, file } = await openFiles()
    await mkdir(join(workdir, 'd'))
    for (const [path, words] of [
      ['d', /is a directory/],
      ['d/.', /must name a file/],
      ['d/..', /must name a file/],
      ['g', /^not_found: /],
    ] as const)
      expect(await deleteFileTool.prepare({ path }, { workdir }, notAborted)).toMatchObject({
        message: expect.stringMatching(words),
      })
    const prepared = await deleteFileTool.prepare({ path: 'f' }, { workdir }, notAborted)
    await writeFile(file, 'mine\n')
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : undefined
    expect(await deleteFileTool.run({ path: 'f' }, { workdir }, createToolRun({ contentHash }).run)).toMatchObject({
      output: { text: expect.stringMatching(/^content_changed: /) },
    })
    expect(await readFile(file, 'utf8')).toBe('mine\n')
  })
})

describe('move_file', () => {
  const move = (workdir: string, path: string, new_path: string) =>
    moveFileTool.run({ path, new_path }, { workdir }, createToolRun().run)

  it('moves a file with its mode, and a link as a link', async () => {
    const { workdir } = await openFiles()
    await symlink('nowhere', join(workdir, 'link'))
    expect(await move(workdir, 'f', 'a/b/g')).toMatchObject({ type: 'ok', output: { text: 'moved f to a/b/g' } })
    expect(await move(workdir, 'link', 'a/link')).toMatchObject({ type: 'ok' })
    expect((await lstat(join(workdir, 'a/b/g'))).mode & 0o777).toBe(0o640)
    expect(await readlink(join(workdir, 'a/link'))).toBe('nowhere')
    expect(await readdir(workdir)).toEqual(['a'])
  })

  it('never overwrites a file, a directory or a link to nowhere', async () => {
    const { workdir, file } = await openFiles()
    await writeFile(join(workdir, 'g'), 'mine')
    await mkdir(join(workdir, 'd'))
    await symlink('nowhere', join(workdir, 'link'))
    for (const target of ['g', 'd', 'link', 'f'])
      expect(await move(workdir, 'f', target)).toMatchObject({
        type: 'failed',
        output: { text: expect.stringMatching(/exists already, and move_file never overwrites/) },
      })
    const { run } = createToolRun({ begin: () => writeFile(join(workdir, 'h'), 'mine') })
    expect(await moveFileTool.run({ path: 'f', new_path: 'h' }, { workdir }, run)).toMatchObject({ type: 'failed' })
    expect(await readFile(join(workdir, 'h'), 'utf8')).toBe('mine')
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\n')
  })
})

describe('write_file', () => {
  const write = (workdir: string, content: string) =>
    writeFileTool.prepare({ path: 'f', content }, { workdir }, notAborted)

  it.each([
    ['nothing over something', '', /content is empty and f is not/],
    ['a notice of read_file', 'one\n[lines 1–1 of 2; continue with offset=2]\n', /^elided: /],
    ['a line that stands for others', 'one\n// ... rest of the code ...\n', /^elided: /],
    ['lines with the numbers of read_file', '1\tone\n2\ttwo\n', /begins each line with its number/],
  ])('refuses %s', async (_, content, words) => {
    const { workdir } = await openFiles()
    expect(await write(workdir, content)).toMatchObject({ message: expect.stringMatching(words) })
  })

  it('takes such lines if the file has them already', async () => {
    const { workdir } = await openFiles('# ... rest of the code ...\n')
    expect(await write(workdir, '# ... rest of the code ...\nmore\n')).toMatchObject({ type: 'ready' })
  })

  it('keeps the encoding, the byte-order mark and the line ends of the file', async () => {
    const { workdir, file } = await openFiles()
    await writeFile(file, Buffer.from('\ufeffone\r\ntwo\r\n', 'utf16le'))
    await writeFileTool.run({ path: 'f', content: 'ż\n2\n' }, { workdir }, createToolRun().run)
    expect(await readFile(file)).toEqual(Buffer.from('\ufeffż\r\n2\r\n', 'utf16le'))
  })
})
