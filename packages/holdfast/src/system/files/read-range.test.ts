import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readRange } from './read-range.ts'

const signal = new AbortController().signal

async function openFileOf(content: string) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-read-range-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'file'), content)
  const handle = await open(join(folder, 'file'))
  onTestFinished(() => handle.close())
  return handle
}

const skippedMax = 1e9

describe('reading lines of a file', () => {
  it('ends if the first line is far behind: a file with a hole can have any size', async () => {
    const handle = await openFileOf(`${'x'.repeat(70_000)}\n`.repeat(9))
    const read = (offset: number) =>
      readRange(handle, { offset, lines: 1, bytesMax: 100_000, skippedMax: 200_000, signal })
    expect((await read(2)).end).toBe('lines')
    expect(await read(9)).toMatchObject({ end: 'far', bytes: Buffer.alloc(0) })
  })

  it('takes no step per line, neither before the first line nor in the range', async () => {
    const handle = await openFileOf('\n'.repeat(1_000_000))
    const views = vi.spyOn(Buffer.prototype, 'subarray')
    onTestFinished(() => views.mockRestore())
    const range = await readRange(handle, { offset: 900_000, lines: 50_000, bytesMax: 256_000, skippedMax, signal })
    expect(range).toMatchObject({ nextLine: 950_000, end: 'lines' })
    expect(range.bytes.length).toBe(50_000)
    expect(views.mock.calls.length).toBeLessThan(100)
  })

  it.each([1, 2, 3, 4])('returns the same as splitting the text: offset %i', async (offset) => {
    const content = `one\n${'x'.repeat(70_000)}\nthree\nfour`
    const handle = await openFileOf(content)
    for (const lines of [1, 2, 3, 9]) {
      const wanted = content.split(/(?<=\n)/).slice(offset - 1, offset - 1 + lines)
      const { bytes, end, nextLine } = await readRange(handle, { offset, lines, bytesMax: 100_000, skippedMax, signal })
      expect(bytes.toString()).toBe(wanted.join(''))
      expect(end).toBe(offset + lines <= 4 ? 'lines' : 'file')
      if (end === 'lines') expect(nextLine).toBe(offset + lines)
    }
  })

  it('cuts after the last whole line that fits, also across chunks', async () => {
    const handle = await openFileOf('12345678\n'.repeat(20_000))
    const { bytes, nextLine, end } = await readRange(handle, {
      offset: 11,
      lines: 1e9,
      bytesMax: 100_000,
      skippedMax,
      signal,
    })
    expect({ length: bytes.length, nextLine, end }).toEqual({ length: 99_999, nextLine: 11 + 11_111, end: 'bytes' })
  })
})
