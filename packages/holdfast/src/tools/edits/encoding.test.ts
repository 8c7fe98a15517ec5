import { aGif } from '@holdfast/testkit'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { decodeText } from './decode-text.ts'
import { checkAscii, describeText, encodeText, isBinary } from './encoding.ts'
import { splitLines } from './lines.ts'
import { wholeLines } from './splice.ts'

const japanese = '日本語のテキストです。これは文字コードの判定に使う長い文章で、漢字と仮名の両方があります。\n'.repeat(
  20,
)
const korean = '한국어 텍스트입니다. 이것은 문자 인코딩을 판별하기 위한 긴 문장입니다.\n'.repeat(20)

describe('the text of a file', () => {
  it.each([
    ['UTF-8', Buffer.from('żółw 🐢\n'), 'utf8', false],
    ['UTF-8 with a byte-order mark', Buffer.from('\ufeffa\n'), 'utf8', true],
    ['UTF-16 LE', Buffer.from('\ufeffżółw\r\n', 'utf16le'), 'utf16le', true],
    ['UTF-16 BE', Buffer.from('\ufeffżółw\r\n', 'utf16le').swap16(), 'utf16be', true],
    ['Shift_JIS', iconv.encode(japanese, 'Shift_JIS'), 'Shift_JIS', false],
    ['EUC-KR', iconv.encode(korean, 'EUC-KR'), 'EUC-KR', false],
    ['an encoding that is not certain', Buffer.from('caf\xe9\n', 'latin1'), 'latin1', false],
  ])('is read and written back byte by byte: %s', async (_, bytes, name, bom) => {
    const decoded = await decodeText(bytes)
    expect(decoded?.encoding).toMatchObject({ name, bom })
    expect(decoded?.text.startsWith('\ufeff')).toBe(false)
    expect(decoded && (await encodeText(decoded.text, decoded.encoding))).toEqual({ ok: true, value: bytes })
  })

  it('keeps every possible byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, byte) => byte + 1))
    const decoded = await decodeText(bytes)
    expect(decoded && (await encodeText(decoded.text, decoded.encoding))).toEqual({ ok: true, value: bytes })
  })

  it('takes no character that the encoding lacks', async () => {
    const decoded = await decodeText(iconv.encode(japanese, 'Shift_JIS'))
    expect(decoded && (await encodeText(`${decoded.text}🐢`, decoded.encoding))).toMatchObject({
      fault: { message: expect.stringContaining('Shift_JIS, which has no character "🐢"') },
    })
    expect(await encodeText('ż', { name: 'latin1', bom: false })).toMatchObject({ ok: false })
  })

  it('of an unknown encoding may be changed only in ASCII', async () => {
    const unknown = { name: 'latin1', bom: false, isUnknown: true } as const
    const splice = (removed: string, added: string) => [
      { line: 0, removed: wholeLines(removed), added: wholeLines(added) },
    ]
    expect(checkAscii(unknown, splice('caf\xe9 one\n', 'caf\xe9 two\n'))).toMatchObject({ ok: true })
    expect(checkAscii(unknown, splice('caf\xe9 one\n', 'cafe one\n'))).toMatchObject({ ok: false })
    expect(checkAscii(unknown, splice('one\n', '\xe9\n'))).toMatchObject({ ok: false })
    expect(checkAscii({ name: 'utf8', bom: false }, splice('one\n', '\xe9\n'))).toMatchObject({ ok: true })
  })

  it.each([
    ['a NUL near the start', Buffer.from('a\0b')],
    ['PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')],
    [
      'PDF that is all ASCII',
      Buffer.from('%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
    ],
    ['GIF', Buffer.from(aGif)],
    ['PNG', Buffer.from('\x89PNG\r\n', 'latin1')],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 97, 0, 0, 0])],
  ])('is not looked for in %s', async (_, bytes) => {
    expect(isBinary(bytes)).toBe(true)
    expect(await decodeText(bytes)).toBeNull()
  })

  it.each([
    ...['%PDF-1.7 is how a PDF file begins.\n', 'GIF89a\n', 'RIFF: chunks\n', `BZh ${'ü'.repeat(8192)}`],
    '%PDF-1.4\n\nA PDF file begins like this. An object of it:\n\n1 0 obj\n<<>>\nendobj\n',
    '%PDF-1.4\n1 0 obj\nendobj\ntrailer<<>>\n%%EOF\n\nThese are the lines of the smallest PDF file.\n',
  ])('may begin like another format: %s', async (text) => {
    expect(isBinary(Buffer.from(text))).toBe(false)
    expect(await decodeText(Buffer.from(text))).toMatchObject({ text })
  })

  it('is named where it is unusual', async () => {
    const described = async (bytes: Buffer) => {
      const decoded = await decodeText(bytes)
      return decoded && describeText(decoded.encoding, splitLines(decoded.text))
    }
    expect(await described(Buffer.from('a\nb\n'))).toBeNull()
    expect(await described(Buffer.from('a\r\nb\r\n'))).toBe('lines end with \\r\\n')
    expect(await described(Buffer.from('a\r\nb\n'))).toBe('mixed line ends (\\r\\n and \\n)')
    expect(await described(Buffer.from('\ufeffa\n'))).toBe('UTF-8 with a byte-order mark')
    expect(await described(Buffer.from('\ufeffa\n', 'utf16le'))).toBe('UTF-16 LE')
    expect(await described(Buffer.from('caf\xe9\n', 'latin1'))).toMatch(/^unknown encoding/)
  })
})
