import type { Usage } from '@holdfast/protocol'
import type { AnswerPart, FileAttachment, Remark } from './conversation.ts'

// Reads fields of foreign JSON: a field of the wrong type counts as missing.

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
/** Returns a text that is not blank. */
export const toNonBlankText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
export const toCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : 0

const timeMin = Date.UTC(1990, 0, 1)
const timeMax = Date.UTC(2200, 0, 1)

/** Parses a date or milliseconds. Returns null for times out of range: Go writes the year 1 for a missing time. */
export function parseTime(value: unknown): number | null {
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return time >= timeMin && time < timeMax ? Math.floor(time) : null
}

/** Parses usage with Anthropic's field names, which most programs use. */
export function parseUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const usage = {
    input: toCount(value['input_tokens']),
    output: toCount(value['output_tokens']),
    cacheRead: toCount(value['cache_read_input_tokens'] ?? value['cache_read_tokens']),
    cacheWrite: toCount(value['cache_creation_input_tokens'] ?? value['cache_write_tokens']),
    cost: null,
  }
  return hasTokens(usage) ? usage : undefined
}

export const hasTokens = ({ input, output, cacheRead, cacheWrite }: Usage): boolean =>
  input + output + cacheRead + cacheWrite > 0

/** Parses the arguments of a call: an object, or JSON text of one. */
export function parseArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  if (value.trim() === '') return {}
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Decodes base64 text; returns null if there are no bytes. */
export function decodeBase64(value: unknown): Uint8Array | null {
  if (typeof value !== 'string' || value === '') return null
  const bytes = Buffer.from(value, 'base64')
  return bytes.length > 0 ? bytes : null
}

/** Reads the text and files of a result, which may be a text or a list of parts; calls `left` for other parts. */
export function parseResult(
  content: unknown,
  left: (what: string) => void,
): { readonly text: string; readonly files: readonly FileAttachment[] } {
  if (typeof content === 'string') return { text: content, files: [] }
  if (!Array.isArray(content))
    return { text: content === undefined || content === null ? '' : JSON.stringify(content), files: [] }
  const files: FileAttachment[] = []
  const texts = content.map((part) => {
    if (typeof part === 'string') return part
    const { type, text, data, source } = toObject(part)
    if (typeof text === 'string') return text
    const kind = typeof type === 'string' ? type : 'part'
    const bytes = decodeBase64(data ?? toObject(source)['data'])
    if (bytes) files.push({ type: 'file', bytes })
    else left(kind)
    return `[${kind}]`
  })
  return { text: texts.join('\n'), files }
}

/** Creates a call from fields of any type. */
export const createCall = (id: unknown, tool: unknown, args: unknown): AnswerPart => ({
  ...{ type: 'call', id: String(id ?? ''), tool: toText(tool) ?? '', args },
})

/** Remarks that a part of an unknown type was left out. */
export const remarkUnknownPart = (remark: Remark, line: number, type: unknown): void =>
  remark(line, 'unknown_part', `A part of the unknown type ${JSON.stringify(type)} was left out.`)

/** Remarks that a record of an unknown type was left out; `noun` is what the other program calls it. */
export const remarkUnknownRecord = (remark: Remark, line: number, noun: string, type: unknown): void =>
  remark(line, 'unknown_record', `${noun} of the unknown type ${JSON.stringify(type)} was left out.`)
