import { isAscii, isUtf8 } from 'node:buffer'
import { type DecodedText, type Encoding, isBinary, utf8Bom, utf16Of } from './encoding.ts'

/** Lets other work run between two slices. */
type Pause = () => Promise<unknown>

/** How many bytes are decoded in one slice: a few milliseconds. Tables are slower than what Node decodes. */
const sliceBytes = 1024 * 1024
const tableSliceBytes = 128 * 1024
const sampleBytes = 64 * 1024
const confidenceMin = 90

const utf8: Encoding = { name: 'utf8', bom: false }

/**
 * Decodes a text file. Returns null for a binary one. The byte-order mark is not part of the text. On the main thread,
 * `pause` lets other work run after each slice of bytes.
 */
export async function decodeText(bytes: Buffer, pause: Pause = noPause): Promise<DecodedText | null> {
  if (isBinary(bytes)) return null
  if (isUtf8(bytes)) {
    const bom = bytes.subarray(0, 3).equals(utf8Bom)
    return { text: await decodeUtf8(bytes.subarray(bom ? 3 : 0), pause), encoding: { ...utf8, bom } }
  }
  const utf16 = utf16Of(bytes)
  if (utf16 !== null)
    return { text: await decodeUtf16(bytes.subarray(2), utf16, pause), encoding: { name: utf16, bom: true } }
  const name = await detect(bytes, pause)
  const text = name === null ? null : await decodeByTable(bytes, name, pause)
  if (name !== null && text !== null) return { text, encoding: { name, bom: false } }
  return { text: bytes.toString('latin1'), encoding: { name: 'latin1', bom: false, isUnknown: true } }
}

const noPause: Pause = async () => undefined

async function decodeUtf8(bytes: Buffer, pause: Pause): Promise<string> {
  if (pause === noPause) return bytes.toString() // to join slices would copy the text again
  let text = ''
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) await pause()
    let to = Math.min(from + sliceBytes, bytes.length)
    while (to < bytes.length && ((bytes[to] ?? 0) & 0xc0) === 0x80) to-- // not inside a character
    text += bytes.toString('utf8', from, to)
    from = to
  }
  return text
}

async function decodeUtf16(bytes: Buffer, name: 'utf16le' | 'utf16be', pause: Pause): Promise<string> {
  let text = ''
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    if (from > 0) await pause()
    const slice = bytes.subarray(from, from + sliceBytes)
    text += (name === 'utf16be' ? Buffer.from(slice).swap16() : slice).toString('utf16le')
  }
  return text
}

/** Decodes bytes by the table of an encoding; null if the text would not be written back as the same bytes. */
async function decodeByTable(bytes: Buffer, name: string, pause: Pause): Promise<string | null> {
  const { default: iconv } = await import('iconv-lite')
  const decoder = iconv.getDecoder(name, { stripBOM: false })
  const encoder = iconv.getEncoder(name)
  let [text, compared] = ['', 0]
  const isSame = (again: Buffer | undefined): boolean => {
    const from = compared
    compared += again?.length ?? 0
    return again === undefined || again.equals(bytes.subarray(from, compared))
  }
  for (let from = 0; from < bytes.length; from += tableSliceBytes) {
    await pause()
    const piece = decoder.write(bytes.subarray(from, from + tableSliceBytes))
    if (!isSame(encoder.write(piece))) return null
    text += piece
  }
  const rest = decoder.end() ?? ''
  return isSame(encoder.write(rest)) && isSame(encoder.end()) && compared === bytes.length ? text + rest : null
}

/** Guesses an encoding from the bytes around the first that is not ASCII. Returns null without great confidence. */
async function detect(bytes: Buffer, pause: Pause): Promise<string | null> {
  const { analyse } = await import('chardet')
  let first = 0
  while (first < bytes.length && isAscii(bytes.subarray(first, first + sampleBytes))) first += sampleBytes
  while (first < bytes.length && (bytes[first] ?? 0) < 0x80) first++
  await pause()
  const start = Math.max(0, first - 1024)
  const [best] = analyse(bytes.subarray(start, start + sampleBytes))
  if (best === undefined || best.confidence < confidenceMin) return null
  const { default: iconv } = await import('iconv-lite')
  return iconv.encodingExists(best.name) ? best.name : null
}
