import type { Usage } from '@holdfast/protocol'
import type { FileAttachment } from './conversation.ts'

// What comes out of a stranger's JSON is looked at field by field: one that is not what we hope for is not there.

export type Loose = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectOf = (value: unknown): Loose => (isObject(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
/** A text with something in it. */
export const wordsOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : 0

const beforeAll = Date.UTC(1990, 0, 1)
const afterAll = Date.UTC(2200, 0, 1)

/** Milliseconds of a date or of a number of them. Go writes the year 1 for no time; so do we read it. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return time >= beforeAll && time < afterAll ? Math.floor(time) : null
}

/** Anthropic's names, which most programs keep. */
export function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const usage = {
    input: countOf(value['input_tokens']),
    output: countOf(value['output_tokens']),
    cacheRead: countOf(value['cache_read_input_tokens'] ?? value['cache_read_tokens']),
    cacheWrite: countOf(value['cache_creation_input_tokens'] ?? value['cache_write_tokens']),
    cost: null,
  }
  return isUsed(usage) ? usage : undefined
}

export const isUsed = ({ input, output, cacheRead, cacheWrite }: Usage): boolean =>
  input + output + cacheRead + cacheWrite > 0

/** The arguments of a call: an object, or JSON that spells one. */
export function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  if (value.trim() === '') return {}
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** A base64 text as bytes; null when it is none. */
export function bytesOf(value: unknown): Uint8Array | null {
  if (typeof value !== 'string' || value === '') return null
  const bytes = Buffer.from(value, 'base64')
  return bytes.length > 0 ? bytes : null
}

/** The words and pictures of a result that may be a text or a list of parts; what is neither is named. */
export function resultOf(
  content: unknown,
  left: (what: string) => void,
): { readonly text: string; readonly files: readonly FileAttachment[] } {
  if (typeof content === 'string') return { text: content, files: [] }
  if (!Array.isArray(content))
    return { text: content === undefined || content === null ? '' : JSON.stringify(content), files: [] }
  const files: FileAttachment[] = []
  const texts = content.map((part) => {
    if (typeof part === 'string') return part
    const { type, text, data, source } = objectOf(part)
    if (typeof text === 'string') return text
    const kind = typeof type === 'string' ? type : 'part'
    const bytes = bytesOf(data ?? objectOf(source)['data'])
    if (bytes) files.push({ type: 'file', bytes })
    else left(kind)
    return `[${kind}]`
  })
  return { text: texts.join('\n'), files }
}
