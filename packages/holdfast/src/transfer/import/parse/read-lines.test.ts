import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repairJson } from '../detect.ts'
import { parseLine, readLines } from './read-lines.ts'

async function read(bytes: string | Uint8Array) {
  const directory = mkdtempSync(join(tmpdir(), 'hf-lines-'))
  const path = join(directory, 'a')
  writeFileSync(path, bytes)
  const file = await open(path)
  const remarks: string[] = []
  const values: unknown[] = []
  try {
    const remark = (line: number | null, code: string) => remarks.push(`${line} ${code}`)
    for await (const lines of readLines(file, remark))
      for (const line of lines) values.push([line.number, parseLine(line, remark)])
  } finally {
    await file.close()
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
