import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { decodeText } from './decode-text.ts'

const megabyte = 1024 ** 2

/** A text of some bytes, of characters of different lengths, so that slices end within characters. */
const mixed = 'aż🐢日本語\n'
const japanese = '日本語のテキストです。これは文字コードの判定に使う長い文章で、漢字と仮名の両方があります。a\n'

type Encode = (text: string) => Buffer

const encodings: readonly [string, string, Encode][] = [
  ['UTF-8', mixed, (text) => Buffer.from(text)],
  ['UTF-16 LE', mixed, (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 BE', mixed, (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['Shift_JIS', japanese, (text) => iconv.encode(text, 'Shift_JIS')],
]

/** Decodes a text of about so many bytes. Returns whether it is the same text, and the number of pauses. */
async function decodeLong(unit: string, encode: Encode, bytes: number) {
  const text = unit.repeat(Math.ceil(bytes / encode(unit).length))
  let pauses = 0
  const decoded = await decodeText(encode(text), async () => pauses++)
  return { isSame: decoded?.text === text, pauses }
}

describe('a long text', () => {
  it.each(encodings)('is decoded in slices of at most a megabyte: %s', async (_, unit, encode) => {
    const [half, whole] = [await decodeLong(unit, encode, 2 * megabyte), await decodeLong(unit, encode, 4 * megabyte)]
    expect([half.isSame, whole.isSame]).toEqual([true, true])
    expect(half.pauses).toBeGreaterThanOrEqual(1)
    expect(whole.pauses).toBeGreaterThanOrEqual(Math.max(3, 2 * half.pauses - 2))
  })

  it('that its guessed encoding would not write back is read as Latin-1', async () => {
    const text = iconv.encode(japanese.repeat(3000), 'Shift_JIS')
    const broken = Buffer.concat([text, Buffer.from([0x81]), Buffer.from('\n')])
    const decoded = await decodeText(broken)
    expect(decoded?.encoding).toEqual({ name: 'latin1', bom: false, isUnknown: true })
    expect(decoded?.text.length).toBe(broken.length)
  })
})
