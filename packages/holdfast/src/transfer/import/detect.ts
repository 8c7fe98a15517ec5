import * as claudeCode from './formats/claude-code.ts'
import * as codex from './formats/codex.ts'
import * as ggcode from './formats/ggcode.ts'
import { isHoldfastHeader } from './formats/holdfast.ts'
import * as minga from './formats/minga.ts'
import * as pi from './formats/pi.ts'
import * as picoclaw from './formats/picoclaw.ts'
import type { DocumentFormat, FormatName, LineFormat } from './parse/format.ts'
import { isObject, type JsonObject, parse } from './parse/json.ts'
import { decode, isBlank, isTooComplex, lineBytesMax, lineFeed } from './parse/read-lines.ts'
import type { SourceFile } from './parse/source-file.ts'

/** Tried in this order, because a line may match several formats. */
const lineFormats: readonly LineFormat[] = [ggcode, claudeCode, codex, pi, picoclaw].map((tool) => tool.lineFormat)
const documentFormats: readonly DocumentFormat[] = [picoclaw, minga].map((tool) => tool.documentFormat)

/** How much of a file is read to detect its format, and the largest single document. */
const headBytes = 1024 * 1024
const linesChecked = 50
const documentBytesMax = 64 * 1024 * 1024

export type Detected =
  | { readonly type: 'holdfast' }
  /** `parsed` has the values of the first lines, as far as they were read whole. */
  | { readonly type: 'lines'; readonly format: LineFormat; readonly parsed: readonly unknown[] }
  | (Document & { readonly type: 'document'; readonly format: DocumentFormat })
  /** A file without a session, for example an index or a companion file. */
  | { readonly type: 'none'; readonly why: 'empty' | 'not_a_session' | 'damaged' | 'too_large' }

type Document = { readonly value: JsonObject; readonly bytes: Uint8Array; readonly isRepaired: boolean }

/** Detects the format of a file from its content. `wanted` limits the search to one program. */
export function detect(file: SourceFile, wanted: FormatName | null): Detected {
  if (file.size === 0) return { type: 'none', why: 'empty' }
  const head = readHead(file)
  const lines = splitHead(head)
  // An empty line would throw, which takes longer than to parse a short one.
  const parsed = lines.map((line) =>
    line.length === 0 || isTooComplex(line) ? undefined : parse(decodeSilently(line)),
  )
  const values = parsed.filter(isObject)
  const isWanted = ({ name }: { readonly name: FormatName }) => wanted === null || name === wanted
  if (values.some(isHoldfastHeader) && (wanted ?? 'holdfast') === 'holdfast') return { type: 'holdfast' }
  const [first] = values
  const isSingle = first !== undefined && lines.filter((line) => !isBlank(line)).length === 1
  if (!isSingle || !documentFormats.some((format) => isWanted(format) && format.owns(first))) {
    const format = lineFormats.filter(isWanted).find(({ owns }) => values.some(owns))
    if (format) return { type: 'lines', format, parsed: head.length === file.size ? parsed : [] }
  }
  if (wanted === 'holdfast') return { type: 'none', why: 'not_a_session' }
  return detectDocument(file, isWanted)
}

/** Reads the beginning of a file, at least its first line: a pasted image may be on it. */
function readHead(file: SourceFile): Uint8Array {
  const head = file.read(0, Math.min(file.size, headBytes))
  if (head.length === file.size || head.includes(lineFeed)) return head
  const { end } = file.findEnd(head.length, lineFeed)
  return file.read(0, Math.min(file.size, Math.min(end, lineBytesMax) + headBytes))
}

/** Returns the first lines; the last may be cut. */
function splitHead(head: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = []
  let from = 0
  for (let end = head.indexOf(lineFeed); lines.length < linesChecked; end = head.indexOf(lineFeed, from)) {
    lines.push(head.subarray(from, end === -1 ? undefined : end))
    if (end === -1) break
    from = end + 1
  }
  return lines
}

const looksLikeJson = /^\s*\{/
const decodeSilently = (bytes: Uint8Array): string => decode(bytes, null, () => undefined)

function detectDocument(file: SourceFile, isWanted: (format: DocumentFormat) => boolean): Detected {
  if (file.size > documentBytesMax) return { type: 'none', why: 'too_large' }
  const read = file.read(0, file.size)
  const text = decodeSilently(read)
  const isComplex = isTooComplex(read)
  const complete = isComplex ? undefined : parse(text)
  const value = complete ?? (isComplex ? null : repairJson(text))
  const isRepaired = complete === undefined
  const format = isObject(value) && documentFormats.filter(isWanted).find(({ owns }) => owns(value))
  if (!format) return { type: 'none', why: isRepaired && looksLikeJson.test(text) ? 'damaged' : 'not_a_session' }
  return { type: 'document', format, value, bytes: read, isRepaired }
}

/** Parses the beginning of a truncated JSON document, up to its last complete value; null if there is none. */
export function repairJson(text: string): unknown {
  const open: string[] = []
  let best: { readonly end: number; readonly closing: string } | null = null
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '{' || char === '[') {
      if (open.push(char === '{' ? '}' : ']') > nestingMax) break
    } else if (char === '}' || char === ']') {
      if (open.pop() !== char) break
      if (open.length > 0 && open.length < depthMax) best = { end: at + 1, closing: open.toReversed().join('') }
    } else if (char === '\0') break
  }
  if (best === null) return null
  return parse(text.slice(0, best.end) + best.closing, null)
}

/** Deeper values are part of a message, and a message is imported completely or not at all. */
const depthMax = 3
/** What is nested deeper is not a session. */
const nestingMax = 10_000
