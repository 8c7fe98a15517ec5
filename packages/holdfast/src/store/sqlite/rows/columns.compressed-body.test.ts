import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync } from 'node:zlib'
import { codeOf, mustCreate, newSession, recordAt, sessionId, textSaid } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../sqlite-store.ts'
import { compressBody, compressedCharsMin, decompressBody } from './columns.ts'
import { decompressedBytes } from './zstd-frames.ts'

const longText = 'Ships that pass the harbour at night speak each other in passing. '.repeat(60)

const hashes = Array.from({ length: 100 }, (_, index) => createHash('sha512').update(`${index}`).digest())
/** Random text, which does not compress well. */
const noise = Array.from(Buffer.concat(hashes), (byte) => String.fromCharCode(byte & 0x7f)).join('')

describe('a body', () => {
  it.each([
    ['plain', longText],
    ['of other scripts', '港の灯台 🗼 été '.repeat(400)],
    ['short', 'a word'],
    ['empty', ''],
  ])('that is %s survives compression', (_, text) => {
    expect(decompressBody(compressBody(text))).toBe(text)
  })

  it('is compressed only if it is long and compresses well', () => {
    expect(compressBody('x'.repeat(compressedCharsMin - 1))).toBeTypeOf('string')
    const packed = compressBody(longText)
    expect(packed).toBeInstanceOf(Uint8Array)
    expect(packed.length).toBeLessThan(longText.length / 2)
    expect(compressBody(noise)).toBe(noise)
  })

  it.each([compressedCharsMin, 70_000, 3_000_000])(
    'of %i characters tells its length while it is compressed',
    (length) => {
      expect(decompressedBytes(Buffer.from(compressBody('x'.repeat(length))))).toBe(length)
      expect(decompressedBytes(Buffer.from('x'.repeat(length)))).toBeNull()
      expect(decompressedBytes(Buffer.from(compressBody('x'.repeat(length))).subarray(0, 9))).toBeNull()
    },
  )

  it('with damaged bytes decompresses to empty text and does not throw', () => {
    const packed = Uint8Array.from(Buffer.from(compressBody(longText)))
    for (let at = 0; at < packed.length; at += 7) {
      const damaged = packed.with(at, (packed[at] ?? 0) ^ 0xff)
      expect(() => decompressBody(damaged)).not.toThrow()
    }
    expect([decompressBody(packed.subarray(0, 40)), decompressBody(new Uint8Array(9))]).toEqual(['', ''])
  })
})

let path = ''
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-packed-')), 'holdfast.db')
})
afterEach(() => rmSync(dirname(path), { recursive: true, force: true }))

async function open() {
  const opened = await openSqliteStore({ path })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

function inFile(statement: string): unknown {
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const row = database.prepare(statement).get()
  database.close()
  return row && Object.values(row)
}

describe('a store', () => {
  it('stores a long message compressed, finds it and reads it unchanged', async () => {
    const store = await open()
    await mustCreate(
      store,
      newSession(1, { records: [recordAt(1, textSaid(longText)), recordAt(2, textSaid('brief'))] }),
    )
    expect(inFile('select group_concat(typeof(body)) from record')).toEqual(['blob,text'])
    expect(await store.read(sessionId(1), { after: 0, limit: 1 })).toMatchObject([{ event: textSaid(longText) }])
    expect(await store.search({ text: 'harbour', limit: 5 })).toMatchObject({ value: { hits: [{ message: 1 }] } })
    await store.close()
  })

  it.each([
    ['changed', "substr(body, 1, 60) || x'00ff' || substr(body, 63)"],
    ['truncated', 'substr(body, 1, 60)'],
    ['those of another text', `x'${Buffer.from(zstdCompressSync('{"type":"user.said"}')).toString('hex')}'`],
  ])('reports a message as lost if its bytes are %s, and reads the others', async (_, damage) => {
    const store = await open()
    await mustCreate(
      store,
      newSession(1, { records: [recordAt(1, textSaid(longText)), recordAt(2, textSaid('brief'))] }),
    )
    inFile(`update record set body = cast(${damage} as blob) where seq = 1 returning seq`)
    expect(await store.read(sessionId(1), { after: 0, limit: 5 })).toMatchObject([{ seq: 1, lost: true }, { seq: 2 }])
    expect(codeOf(await store.search({ text: 'harbour', limit: 5 }))).toBe('ok')
    await store.close()
  })
})
