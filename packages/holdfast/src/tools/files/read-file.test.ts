import { mkdir, open, writeFile } from 'node:fs/promises'
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

const large = (lines: number) => Array.from({ length: lines }, (_, index) => `line ${index + 1} äöü`)

describe('read_file', () => {
  it('numbers lines, and names unusual ends and encodings', async () => {
    expect(await read('a\nb\n')).toEqual(['ok', '1\ta\n2\tb'])
    expect(await read('a\nb')).toEqual(['ok', '1\ta\n2\tb\n[no line feed at the end of the file]'])
    expect(await read('a\r\nb\r\n')).toEqual(['ok', '1\ta\n2\tb\n[lines end with \\r\\n]'])
    expect(await read('\n\n')).toEqual(['ok', '1\t\n2\t'])
    expect(await read('\ufeffżółw 🐢\n')).toEqual(['ok', '1\tżółw 🐢\n[UTF-8 with a byte-order mark]'])
    expect(await read(Buffer.from('\ufeffżółw\n', 'utf16le'))).toEqual(['ok', '1\tżółw\n[UTF-16 LE]'])
    expect(await read(Buffer.from('caf\xe9\n', 'latin1'))).toEqual(['ok', expect.stringMatching(/^1\tcafé\n\[unknown/)])
  })

  it('says that an empty file is empty', async () => {
    expect(await read('')).toEqual(['ok', '[file is empty]'])
  })

  it('returns the requested lines and the next offset', async () => {
    const content = 'one\ntwo\nthree\nfour\n'
    expect(await read(content, { offset: 2, limit: 2 })).toEqual([
      'ok',
      '2\ttwo\n3\tthree\n[lines 2–3 of 4; continue with offset=4]',
    ])
    expect(await read(content, { offset: 3, limit: 9 })).toEqual([
      'ok',
      '3\tthree\n4\tfour\n[lines 3–4 of 4; the file ends here]',
    ])
  })

  it('says when the file ends before the first requested line', async () => {
    expect(await read('one\ntwo\n', { offset: 9 })).toEqual([
      'failed',
      'bad_request: file has 2 lines: offset 9 is past its end',
    ])
  })

  it('reports a binary file without its content', async () => {
    expect(await read(new Uint8Array([0x7f, 0x45, 0, 1]))).toEqual([
      'failed',
      'bad_request: file is binary (4 bytes) and is not shown',
    ])
  })

  it.each([
    ['lines', large(4500), 3],
    ['bytes', Array.from({ length: 400 }, () => 'x'.repeat(300)), 3],
  ])('returns a file in pages bounded by %s, and all of it', async (_, lines, pages) => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'long'), `${lines.join('\n')}\n`)
    const whole: string[] = []
    let count = 0
    for (let offset: number | undefined = 1; offset !== undefined; count++) {
      const { output } = await readFileTool.run({ path: 'long', offset }, { workdir }, createToolRun().run)
      const note: RegExpExecArray | null = /\[lines .* continue with offset=(\d+)\]$/.exec(output.text)
      expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(limits.readFileBytesMax + 200)
      whole.push(...output.text.split('\n').filter((line) => !line.startsWith('[')))
      offset = note === null ? undefined : Number(note[1])
    }
    expect(whole).toEqual(lines.map((line, index) => `${index + 1}\t${line}`))
    expect(count).toBe(pages)
  })

  it('cuts an overlong line, and does not count it as seen', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'file'), `one\n${'🐢'.repeat(100_000)}\nnext\n`)
    const { output, seen } = await readFileTool.run({ path: 'file' }, { workdir }, createToolRun().run)
    expect(output.text).toMatch(
      /^1\tone\n2\t(🐢)+(?:…|\.\.\.)? ?\[line 2 is cut: it has 200000 characters\]\n3\tnext$/u,
    )
    expect(seen?.map(({ from, to, of }) => [from, to, of])).toEqual([
      [1, 1, 3],
      [3, 3, 3],
    ])
  })

  it('reads the end of a huge file without loading it', async () => {
    const { workdir } = await openWorkdir()
    const handle = await open(join(workdir, 'huge'), 'w')
    await handle.write('first\n')
    await handle.write('last\n', 300 * 1024 * 1024) // a hole between: 300 MiB of zeros on no disk
    await handle.close()
    const before = process.memoryUsage.rss()
    const { run } = createToolRun()
    const first = await readFileTool.run({ path: 'huge', limit: 1 }, { workdir }, run)
    expect(first.output.text).toMatch(/^1\tfirst\n\[the file goes on: .* continue with offset=2\]$/)
    expect(first.seen).toBeUndefined()
    expect((await readFileTool.run({ path: 'huge', offset: 3 }, { workdir }, run)).type).toBe('failed')
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024)
  })

  it('says that a file does not exist, and names similar ones', async () => {
    const { workdir } = await openWorkdir()
    expect(await readFileTool.prepare({ path: 'no\nsuch' }, { workdir }, notAborted)).toEqual({
      type: 'unusable',
      message: 'not_found: no\\nsuch does not exist',
    })
    await mkdir(join(workdir, 'src'))
    for (const name of ['parser.ts', 'parse.ts', 'other.md']) await writeFile(join(workdir, 'src', name), '')
    expect(await readFileTool.prepare({ path: 'src/parserr.ts' }, { workdir }, notAborted)).toEqual({
      type: 'unusable',
      message: 'not_found: src/parserr.ts does not exist. Similar names: src/parser.ts, src/parse.ts',
    })
  })
})
