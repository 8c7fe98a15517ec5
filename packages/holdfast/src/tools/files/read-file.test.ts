import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { readFileTool } from './read-file.ts'

async function read(content: string | Uint8Array, args: { offset?: number; limit?: number } = {}) {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'file'), content)
  const { type, output } = await readFileTool.run({ path: 'file', ...args }, { workdir }, createToolRun().run)
  return [type, output.text]
}

describe('read_file', () => {
  it.each(['a\nb\n', 'a\nb', 'a\r\nb\r\n', '\n\n', 'żółw 🐢\n', '\ufeffwith a mark\n'])(
    'returns %j unchanged',
    async (content) => {
      expect(await read(content)).toEqual(['ok', content])
    },
  )

  it('says that an empty file is empty', async () => {
    expect(await read('')).toEqual(['ok', '[file is empty]'])
  })

  it('returns the requested lines and the next offset', async () => {
    const content = 'one\ntwo\nthree\nfour\n'
    expect(await read(content, { offset: 2, limit: 2 })).toEqual([
      'ok',
      'two\nthree\n[the file goes on: read on with offset 4]',
    ])
    expect(await read(content, { offset: 3, limit: 2 })).toEqual(['ok', 'three\nfour\n'])
    expect(await read('one\ntwo', { offset: 2 })).toEqual(['ok', 'two'])
  })

  it('says when the file ends before the first requested line', async () => {
    expect(await read('one\ntwo\n', { offset: 9 })).toEqual(['failed', expect.stringContaining('ends before line 9')])
  })

  it('reports a binary file without its content', async () => {
    expect(await read(new Uint8Array([0x7f, 0x45, 0, 1]))).toEqual([
      'failed',
      'file is binary (4 bytes) and is not shown',
    ])
  })

  it('shows invalid UTF-8 with a warning', async () => {
    expect(await read(Buffer.from('caf\xe9\n', 'latin1'))).toEqual([
      'ok',
      expect.stringMatching(/^caf\ufffd\n\[some bytes are not valid UTF-8/),
    ])
  })

  it('cuts a long file after a whole line, and continues from the next offset', async () => {
    const { workdir } = await openWorkdir()
    const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index} äöü`)
    const content = `${lines.join('\n')}\n`
    await writeFile(join(workdir, 'long'), content)
    let whole = ''
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { output } = await readFileTool.run({ path: 'long', offset }, { workdir }, createToolRun().run)
      const note: RegExpExecArray | null = /\[cut at .* read on with offset (\d+)\]$/.exec(output.text)
      const text = output.text.slice(0, note?.index)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.readFileBytesMax)
      whole += text
      offset = note === null ? undefined : Number(note[1])
    }
    expect(whole).toBe(content)
  })

  it('cuts an overlong line between characters, and names it', async () => {
    const [type, text] = await read(`${'🐢'.repeat(100_000)}\nnext\n`)
    expect(type).toBe('ok')
    expect(text).toMatch(/^(🐢)+\n\[cut at 256000 of 400006 bytes: line 1 is longer.*read on with offset 2\]$/u)
  })

  it('reads the end of a huge file without loading it', async () => {
    const { workdir } = await openWorkdir()
    const handle = await open(join(workdir, 'huge'), 'w')
    await handle.write('first\n')
    await handle.write('last\n', 300 * 1024 * 1024) // a hole between: 300 MiB of zeros on no disk
    await handle.close()
    const before = process.memoryUsage.rss()
    const { run } = createToolRun()
    expect((await readFileTool.run({ path: 'huge', limit: 1 }, { workdir }, run)).output.text).toMatch(/^first\n/)
    expect((await readFileTool.run({ path: 'huge', offset: 3 }, { workdir }, run)).type).toBe('failed')
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024)
  })

  it('stores long output as a blob', async () => {
    const { workdir } = await openWorkdir()
    const content = 'x\n'.repeat(20_000)
    await writeFile(join(workdir, 'file'), content)
    const { run } = createToolRun({
      storeOutput: async (output) => {
        let bytes = 0
        for await (const chunk of output) bytes += chunk.length
        return { text: `kept ${bytes}` }
      },
    })
    expect(await readFileTool.run({ path: 'file' }, { workdir }, run)).toEqual({
      type: 'ok',
      output: { text: 'kept 40000' },
    })
  })

  it('says that a file does not exist', async () => {
    const { workdir } = await openWorkdir()
    expect(await readFileTool.prepare({ path: 'no\nsuch' }, { workdir }, notAborted)).toEqual({
      type: 'unusable',
      message: 'not_found: no\\nsuch does not exist',
    })
  })
})
