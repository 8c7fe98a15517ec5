import { isUtf8 } from 'node:buffer'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Lines } from './lines.ts'
import type { Splice } from './splice.ts'

/** How the bytes of a text file are to be read and written. */
export type Encoding = {
  /** `latin1` also stands for an unknown encoding: it turns every byte into a character and back. */
  readonly name: string
  readonly bom: boolean
  /** Set if the encoding is a guess: then only ASCII text may be changed. */
  readonly isUnknown?: true | undefined
}

export type DecodedText = { readonly text: string; readonly encoding: Encoding }

export const utf8Bom = Buffer.from([0xef, 0xbb, 0xbf])
const checkedBytes = 8192

/** How files begin that are never text. */
const magics: readonly Uint8Array[] = [
  ...['\x89PNG', 'PK\x03\x04', '\x1f\x8b', '\x7fELF', '\0asm', '\xff\xd8\xff', '7z\xbc\xaf'],
  ...['\xfd7zXZ', '\xca\xfe\xba\xbe', '\xcf\xfa\xed\xfe', '\x28\xb5\x2f\xfd'],
].map((magic) => Buffer.from(magic, 'latin1'))

/** How other formats begin. Text can begin like this too, so what follows decides. */
const plainMagics: readonly Uint8Array[] = ['GIF8', '%PDF-', 'BZh', 'RIFF', 'OggS', 'SQLite format 3'].map((magic) =>
  Buffer.from(magic),
)

/** A PDF file may be all ASCII, but it has objects, and ends with a trailer. A text about PDF files may have the first. */
const pdfObject = /^\d+ \d+ obj\b/m
const pdfEnd = /[\r\n](?:trailer|startxref)\b[\s\S]*%%EOF\s*$/
const pdfEndBytes = 2048

/** Whether bytes are no text: they begin like a known format, or have a NUL near the start. Names do not count. */
export function isBinary(bytes: Uint8Array): boolean {
  if (utf16Of(bytes) !== null) return false
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, checkedBytes))
  if (head.includes(0)) return true
  const begins = (magic: Uint8Array) => head.subarray(0, magic.length).equals(magic)
  if (magics.some(begins)) return true
  return plainMagics.some(begins) && (!isPlain(head, bytes.byteLength) || isPdf(head, bytes))
}

function isPdf(head: Buffer, bytes: Uint8Array): boolean {
  if (!pdfObject.test(head.toString('latin1'))) return false
  const from = Math.max(0, bytes.byteLength - pdfEndBytes)
  return pdfEnd.test(Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.byteLength - from).toString('latin1'))
}

/** Whether the head of a file is UTF-8. A character may be cut at its end if the file goes on. */
function isPlain(head: Buffer, bytes: number): boolean {
  const cuts = bytes > head.length ? [0, 1, 2, 3] : [0]
  return cuts.some((cut) => isUtf8(head.subarray(0, head.length - cut)))
}

/** Returns which UTF-16 the byte-order mark of a file tells; null if it has none. */
export function utf16Of(bytes: Uint8Array): 'utf16le' | 'utf16be' | null {
  if (bytes.length % 2 !== 0) return null
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return bytes.length >= 4 && bytes[2] === 0 && bytes[3] === 0 ? null : 'utf16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf16be' : null
}

/** Encodes a text. Refuses a character that the encoding lacks. */
export async function encodeText(text: string, { name, bom }: Encoding): Promise<Result<Buffer>> {
  if (name === 'utf8') return ok(bom ? Buffer.concat([utf8Bom, Buffer.from(text)]) : Buffer.from(text))
  if (name === 'utf16le') return ok(Buffer.from(bom ? `\ufeff${text}` : text, 'utf16le'))
  if (name === 'utf16be') return ok(Buffer.from(bom ? `\ufeff${text}` : text, 'utf16le').swap16())
  if (name === 'latin1') {
    const lacking = /[^\0-\xff]/u.exec(text)
    return lacking ? refuse(lacks(name, lacking[0])) : ok(Buffer.from(text, 'latin1'))
  }
  const { default: iconv } = await import('iconv-lite')
  const bytes = iconv.encode(text, name)
  const back = iconv.decode(bytes, name, { stripBOM: false })
  if (back === text) return ok(bytes)
  const lacking = [...new Set(text)].find(
    (character) => iconv.decode(iconv.encode(character, name), name) !== character,
  )
  return refuse(lacks(name, lacking ?? ''))
}

const lacks = (name: string, character: string) =>
  fault('bad_request', `the file is ${name}, which has no character ${JSON.stringify(character)}; nothing was changed`)

/** Refuses a change of other text than ASCII in a file whose encoding is not known: its other characters are a guess. */
export function checkAscii({ isUnknown }: Encoding, splices: readonly Splice[]): Result<void> {
  if (!isUnknown) return ok(undefined)
  for (const { removed, added } of splices) {
    const [one, other] = [removed.text, added.text]
    const length = Math.min(one.length, other.length)
    let head = 0
    while (head < length && one[head] === other[head]) head++
    let tail = 0
    while (tail < length - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++
    const changed = one.slice(head, one.length - tail) + other.slice(head, other.length - tail)
    if (/[^\0-\x7f]/.test(changed)) return refuse(fault('bad_request', unknownEncoding))
  }
  return ok(undefined)
}

const unknownEncoding =
  'the encoding of this file is not known, so only ASCII characters of it can be changed; nothing was changed'

/** Describes an encoding and line ends that are not the usual ones; null for UTF-8 with `\n`. */
export function describeText({ name, bom, isUnknown }: Encoding, { feeds, returns }: Ends): string | null {
  const notes = [
    ...(name === 'utf8' ? (bom ? ['UTF-8 with a byte-order mark'] : []) : []),
    ...(isUnknown ? ['unknown encoding, shown as Latin-1: only ASCII text can be edited'] : []),
    ...(name !== 'utf8' && !isUnknown ? [names[name] ?? name] : []),
    ...(returns > 0 ? [returns < feeds ? 'mixed line ends (\\r\\n and \\n)' : 'lines end with \\r\\n'] : []),
  ]
  return notes.length === 0 ? null : notes.join('; ')
}

type Ends = Pick<Lines, 'feeds' | 'returns'>

const names: Readonly<Record<string, string>> = { utf16le: 'UTF-16 LE', utf16be: 'UTF-16 BE' }
