import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '@holdfast/protocol'
import { describe, expect, it, vi } from 'vitest'
import { detect, repairJson } from '../detect.ts'
import { findFusedRecord, isTooComplex, parseLine, readLines } from './read-lines.ts'
import { openSourceFile } from './source-file.ts'

async function read(bytes: string | Uint8Array) {
  const directory = mkdtempSync(join(tmpdir(), 'hf-lines-'))
  const path = join(directory, 'a')
  writeFileSync(path, bytes)
  const remarks: string[] = []
  const values: unknown[] = []
  try {
    using file = openSourceFile(path)
    const remark = (line: number | null, code: string) => remarks.push(`${line} ${code}`)
    for (const line of readLines(file, remark)) values.push([line.number, parseLine(line, remark)])
  } finally {
    rmSync(directory, { recursive: true })
  }
  return { values, remarks }
}

describe('readLines', () => {
  it('counts blank lines, with any line ending', async () => {
    const { values, remarks } = await read('{"a":1}\r\n\n  \n{"b":2}')
    expect(values).toEqual([
      [1, { a: 1 }],
      [4, { b: 2 }],
    ])
    expect(remarks).toEqual([])
  })

  it('reads lines longer than a chunk', async () => {
    const long = 'ä'.repeat(1_500_000)
    const { values } = await read(`{"a":"${long}"}\n{"b":2}\n`)
    expect(values).toEqual([
      [1, { a: long }],
      [2, { b: 2 }],
    ])
  })

  it('copies no line: each is a view of what one read returned', () => {
    const lengths = [3, 5 * 1024 * 1024, 200, 1024 * 1024 - 1, 1024 * 1024, 7, 2 * 1024 * 1024]
    const whole = Buffer.from(lengths.map((length) => 'x'.repeat(length)).join('\n'))
    const given = new Set<ArrayBufferLike>()
    let bytesRead = 0
    const file = {
      read(position: number, length: number) {
        const bytes = Uint8Array.from(whole.subarray(position, position + length))
        given.add(bytes.buffer)
        bytesRead += bytes.length
        return bytes
      },
      findEnd(position: number, byte: number) {
        const found = whole.indexOf(byte, position)
        return { end: found === -1 ? whole.length : found, isLast: found === -1 }
      },
    }
    const lines = [...readLines(file, () => undefined)]
    expect(lines.map(({ bytes }) => bytes.length)).toEqual(lengths)
    expect(lines.map(({ number }) => number)).toEqual(lengths.map((_, index) => index + 1))
    expect(lines.map(({ isLast }) => isLast)).toEqual(lengths.map((_, index) => index === lengths.length - 1))
    for (const { bytes } of lines) expect(given).toContain(bytes.buffer)
    expect(bytesRead).toBeLessThan(2 * whole.length)
  })

  it.each([
    ['{"a":1}\n{"type":"mess', ['2 torn_tail']],
    ['{"type":"x\n{"a":1}\n', ['1 damaged_line']],
    ['{"type":"message","text":"torn{"type":"message","text":"whole"}\n', ['1 fused_line']],
    ['{"a":1}\n\0\0\0\0', ['2 nul_bytes']],
    ['\ufeff{"a":1}\n', ['1 byte_order_mark']],
    ['[1]\n', ['1 damaged_line']],
  ])('remarks on %j', async (text, remarks) => {
    expect((await read(text)).remarks).toEqual(remarks)
  })

  it('remarks on invalid UTF-8', async () => {
    const { values, remarks } = await read(Buffer.from('{"a":"\xff"}\n', 'latin1'))
    expect([values, remarks]).toEqual([[[1, { a: '\ufffd' }]], ['1 not_utf8']])
  })
})

describe('repairJson', () => {
  const whole = { id: 'x', messages: [{ text: 'a } ] "', args: { deep: [1] } }, { text: 'b' }, { text: 'c' }] }

  it('keeps the complete messages, wherever the document is cut', () => {
    const text = JSON.stringify(whole)
    for (let at = 0; at < text.length; at++) {
      const saved = repairJson(text.slice(0, at)) as typeof whole | null
      if (saved) expect(whole.messages.slice(0, saved.messages.length)).toEqual(saved.messages)
    }
    expect(repairJson(text.slice(0, -3))).toEqual({ id: 'x', messages: whole.messages.slice(0, 2) })
  })
})

describe('findFusedRecord', () => {
  /** Counts the characters that are parsed on a torn line of `size` characters, where every object may begin a record. */
  const countParsed = (size: number): number => {
    let chars = 0
    findFusedRecord('{"a":['.repeat(size / 6), (text) => {
      chars += text.length
      return undefined
    })
    return chars
  }

  it('parses twice as much of a line that is twice as long', () => {
    const size = 6 * 1024 * 1024
    expect(countParsed(size)).toBeLessThan(5 * size)
    expect(countParsed(2 * size)).toBeLessThan(2.1 * countParsed(size))
  })
})

describe('isTooComplex', () => {
  const encode = (text: string) => new TextEncoder().encode(text)

  it('finds values that are nested too deep, and not brackets in strings', () => {
    expect(isTooComplex(encode('{"a":['.repeat(20_000)))).toBe(true)
    expect(isTooComplex(encode('[{"a":1}],'.repeat(20_000)))).toBe(false)
    expect(isTooComplex(encode(JSON.stringify({ text: '[{"\\\\'.repeat(20_000) })))).toBe(false)
  })

  it('finds too many values', () => {
    const items = (count: number) => encode(`[${'0,'.repeat(count)}0]`)
    expect(isTooComplex(items(limits.importedValuesMax - 2))).toBe(false)
    expect(isTooComplex(items(limits.importedValuesMax + 1))).toBe(true)
  })

  it.each(['[', '{"a":[', '{"type":"user","message":{"content":['])('keeps %s… from the parser', (open) => {
    const bytes = encode(open.repeat(200_000))
    const parse = vi.spyOn(JSON, 'parse')
    const file = {
      size: bytes.length,
      isFile: true,
      read: (at: number, length: number) => bytes.subarray(at, at + length),
      findEnd: () => ({ end: bytes.length, isLast: true }),
    }
    expect(detect({ ...file, [Symbol.dispose]: () => undefined }, null)).toMatchObject({ type: 'none' })
    expect(parse.mock.calls.reduce((chars, [text]) => chars + text.length, 0)).toBe(0)
    parse.mockRestore()
  })
})
