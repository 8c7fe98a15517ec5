import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { editFileTool } from './edit-file.ts'
import { writeFileTool } from './write-file.ts'

const write = (workdir: string, path: string, content: string) =>
  writeFileTool.run({ path, content }, { workdir }, createToolRun().run)

describe('write_file', () => {
  it('creates a file and its directories, and reports it', async () => {
    const { workdir } = await openWorkdir()
    expect(await write(workdir, 'a/b/c.txt', 'żółw\r\n')).toEqual({
      type: 'ok',
      output: { text: 'created a/b/c.txt (+1 −0)\n1\tżółw' },
      files: [
        {
          path: 'a/b/c.txt',
          change: 'created',
          before: { type: 'absent' },
          contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          after: createHash('sha256').update('żółw\r\n').digest('hex'),
          mode: expect.any(Number),
        },
      ],
      seen: [{ path: 'a/b/c.txt', hash: expect.any(String), from: 1, to: 1, of: 1 }],
    })
    expect(await readFile(join(workdir, 'a/b/c.txt'), 'utf8')).toBe('żółw\r\n')
    expect(await readdir(join(workdir, 'a/b'))).toEqual(['c.txt'])
  })

  it('replaces a file, keeps its mode and leaves no temporary file', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'run.sh'), 'old')
    await chmod(join(workdir, 'run.sh'), 0o754)
    expect(await write(workdir, 'run.sh', 'new')).toMatchObject({ files: [{ path: 'run.sh', change: 'modified' }] })
    expect((await stat(join(workdir, 'run.sh'))).mode & 0o777).toBe(0o754)
    expect(await readFile(join(workdir, 'run.sh'), 'utf8')).toBe('new')
    expect(await readdir(workdir)).toEqual(['run.sh'])
  })

  it.each([
    ['UTF-8', (text: string) => Buffer.from(text)],
    ['UTF-16', (text: string) => Buffer.from(text, 'utf16le')],
  ])('keeps the byte-order mark of %s once, also if the content begins with one', async (_, encode) => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'bom'), encode('\ufeffa\n'))
    for (const content of ['\ufeffb\n', 'c\n']) {
      await write(workdir, 'bom', content)
      expect(await readFile(join(workdir, 'bom'))).toEqual(encode(`\ufeff${content.replace('\ufeff', '')}`))
    }
    const edit = { path: 'bom', old_text: 'c', new_text: '\ufeffd' }
    await editFileTool.run(edit, { workdir }, createToolRun().run)
    expect(await readFile(join(workdir, 'bom'))).toEqual(encode('\ufeffd\n'))
  })

  it('never lets a reader see a partial file', async () => {
    const { workdir } = await openWorkdir()
    const contents = ['a', 'b'].map((letter) => letter.repeat(900_000))
    await writeFile(join(workdir, 'f'), contents[0] ?? '')
    let writing = true
    const done = (async () => {
      for (let round = 0; round < 20; round++) await write(workdir, 'f', contents[round % 2] ?? '')
      writing = false
    })()
    const seen = new Set<string>()
    while (writing) seen.add(await readFile(join(workdir, 'f'), 'utf8'))
    await done
    expect([...seen].every((content) => contents.includes(content))).toBe(true)
  })

  it('allows two calls to create the same directory at once', async () => {
    const { workdir } = await openWorkdir()
    const names = Array.from({ length: 10 }, (_, index) => `new/deep/${index}`)
    const results = await Promise.all(names.map((name) => write(workdir, name, name)))
    expect(results.map(({ type }) => type)).toEqual(names.map(() => 'ok'))
    expect((await readdir(join(workdir, 'new/deep'))).length).toBe(10)
  })

  it.each(['two\nlines', '-rf', ' ', '$(touch x)', 'ü\u0308', 'n'.repeat(255), '..dots', '\u202eexe'])(
    'treats %j as a plain file name',
    async (name) => {
      const { workdir } = await openWorkdir()
      expect(await write(workdir, name, 'x')).toMatchObject({ type: 'ok', files: [{ path: name }] })
      expect(await readdir(workdir)).toEqual([name])
    },
  )

  it('fails with a message when a name is too long or a file is in the way', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'file'), '')
    expect(await write(workdir, 'n'.repeat(256), 'x')).toMatchObject({
      type: 'failed',
      output: { text: expect.stringContaining('ENAMETOOLONG') },
    })
    expect(await write(workdir, 'file/below', 'x')).toMatchObject({
      type: 'failed',
      output: { text: expect.stringContaining('ENOTDIR') },
    })
    expect(await writeFileTool.prepare({ path: 'dir/', content: '' }, { workdir }, notAborted)).toMatchObject({
      message: expect.stringContaining('path must name a file'),
    })
    expect(await readdir(workdir)).toEqual(['file'])
  })

  it('writes nothing when aborted after it began', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'old')
    const controller = new AbortController()
    const { run } = createToolRun({ signal: controller.signal, begin: async () => controller.abort() })
    expect(await writeFileTool.run({ path: 'f', content: 'new' }, { workdir }, run)).toMatchObject({ type: 'failed' })
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('old')
    expect(await readdir(workdir)).toEqual(['f'])
  })
})

describe('the preview of write_file', () => {
  const diffOf = async (workdir: string, path: string, content: string) => {
    const prepared = await writeFileTool.prepare({ path, content }, { workdir }, notAborted)
    return prepared.type === 'ready' && prepared.preview.type === 'diff' ? prepared.preview.diff : prepared
  }

  it('is a diff against the current file', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one\ntwo\nthree\n')
    expect(await diffOf(workdir, 'f', 'one\n2\nthree')).toBe(
      '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n\\ No newline at end of file\n',
    )
  })

  it('is a diff against /dev/null for a new file, whose name cannot forge lines', async () => {
    const { workdir } = await openWorkdir()
    await mkdir(join(workdir, 'd'))
    expect(await diffOf(workdir, 'd/x\n+++ y', 'a\n')).toBe(
      '--- /dev/null\n+++ "b/d/x\\\\n+++ y"\n@@ -0,0 +1,1 @@\n+a\n',
    )
  })

  it('shows the whole new content when the old cannot be diffed', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), new Uint8Array([0, 1, 2]))
    expect(await diffOf(workdir, 'f', 'text\n')).toMatch(
      /^Replaced whole: f is binary \(3 bytes\)\.\n[\s\S]*\n\+text\n$/,
    )
  })

  it('shows every old and new line when nothing is in common', async () => {
    const { workdir } = await openWorkdir()
    const lines = (prefix: string) => Array.from({ length: 3000 }, (_, index) => `${prefix}${index}`)
    await writeFile(join(workdir, 'f'), `${lines('old').join('\n')}\n`)
    const diff = await diffOf(workdir, 'f', `${lines('new').join('\n')}\n`)
    const body = String(diff).trimEnd().split('\n')
    expect(body.filter((line) => line.startsWith('-old')).map((line) => line.slice(1))).toEqual(lines('old'))
    expect(body.filter((line) => line.startsWith('+new')).map((line) => line.slice(1))).toEqual(lines('new'))
  })
})
