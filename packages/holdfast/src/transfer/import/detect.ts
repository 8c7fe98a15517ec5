import type { FileHandle } from 'node:fs/promises'
import { claudeCode } from './formats/claude-code.ts'
import { codex } from './formats/codex.ts'
import { ggcode } from './formats/ggcode.ts'
import { isOwnHead } from './formats/holdfast.ts'
import { minga } from './formats/minga.ts'
import { pi } from './formats/pi.ts'
import { picoclaw, picoclawLegacy } from './formats/picoclaw.ts'
import type { DocumentFormat, FormatName, LineFormat } from './parse/format.ts'
import { isObject, type Loose } from './parse/loose.ts'
import { decode, parsed } from './parse/read-lines.ts'
import { repairJson } from './parse/repair-json.ts'

/** In this order: a line that two of them would take is the first one's. */
const lineFormats: readonly LineFormat[] = [ggcode, claudeCode, codex, pi, picoclaw]
const documentFormats: readonly DocumentFormat[] = [picoclawLegacy, minga]

/** So much of a file is looked at to know its lines, and so much is read of one that is a single document. */
const headBytes = 1024 * 1024
const linesLookedAt = 50
const documentBytesMax = 256 * 1024 * 1024

export type Detected =
  | { readonly type: 'holdfast' }
  | { readonly type: 'lines'; readonly format: LineFormat }
  | { readonly type: 'document'; readonly format: DocumentFormat; readonly value: Loose; readonly notes: DocumentNotes }
  /** A file of one of these programs that holds no session: an index, a companion. */
  | { readonly type: 'none'; readonly why: 'empty' | 'not_a_session' | 'damaged' | 'too_large' }

export type DocumentNotes = { readonly text: string; readonly bytes: Uint8Array; readonly isSalvaged: boolean }

/** Knows a file by what is in it. With `wanted` only that program's forms are thought of. */
export async function detect(file: FileHandle, size: number, wanted: FormatName | null): Promise<Detected> {
  if (size === 0) return { type: 'none', why: 'empty' }
  const head = Buffer.allocUnsafe(Math.min(size, headBytes))
  await file.read(head, 0, head.length, 0)
  const lines = silentText(head).split('\n', linesLookedAt)
  const values = lines.map(parsed).filter(isObject)
  const isWanted = ({ name }: { readonly name: FormatName }) => wanted === null || name === wanted
  if (values.some(isOwnHead) && (wanted ?? 'holdfast') === 'holdfast') return { type: 'holdfast' }
  const [first] = values
  const alone = first !== undefined && lines.filter((line) => line.trim() !== '').length === 1
  if (!alone || !documentFormats.some((one) => isWanted(one) && one.owns(first))) {
    const format = lineFormats.filter(isWanted).find(({ owns }) => values.some(owns))
    if (format) return { type: 'lines', format }
  }
  if (wanted === 'holdfast') return { type: 'none', why: 'not_a_session' }
  return detectDocument(file, size, isWanted)
}

const silentText = (bytes: Uint8Array): string => decode(bytes, null, () => undefined)

async function detectDocument(
  file: FileHandle,
  size: number,
  isWanted: (format: DocumentFormat) => boolean,
): Promise<Detected> {
  if (size > documentBytesMax) return { type: 'none', why: 'too_large' }
  const bytes = Buffer.allocUnsafe(size)
  const { bytesRead } = await file.read(bytes, 0, size, 0)
  const read = bytes.subarray(0, bytesRead)
  const text = silentText(read)
  const whole = parsed(text)
  const value = whole ?? repairJson(text)
  if (!isObject(value)) return { type: 'none', why: whole === undefined ? 'damaged' : 'not_a_session' }
  const format = documentFormats.filter(isWanted).find(({ owns }) => owns(value))
  if (!format) return { type: 'none', why: whole === undefined ? 'damaged' : 'not_a_session' }
  return { type: 'document', format, value, notes: { text, bytes: read, isSalvaged: whole === undefined } }
}
