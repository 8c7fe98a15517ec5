import type { Usage } from '@holdfast/protocol'
import { boundParts } from './bound-parts.ts'
import type {
  AnswerPart,
  CallResult,
  Checkpoint,
  ImportedMessage,
  ImportedPart,
  Origin,
  Remark,
} from './conversation.ts'
import * as json from './json.ts'

// Builds imported messages from fields of foreign JSON.

export const note = (origin: Origin, text: string, level: 'info' | 'error' = 'info'): ImportedMessage => ({
  role: 'note',
  ...origin,
  level,
  text,
})

export const checkpoint = (origin: Origin, summary: unknown, keepFrom: ImportedMessage | null = null): Checkpoint => ({
  role: 'checkpoint',
  ...origin,
  summary: json.text(summary) ?? '',
  keepFrom,
})

export const call = (id: unknown, tool: unknown, args: unknown): AnswerPart => ({
  type: 'call',
  id: String(id ?? ''),
  tool: json.text(tool) ?? '',
  args,
})

/** Creates the result of a call; remarks on parts that are neither text nor a file. */
export function result(origin: Origin, id: unknown, content: unknown, isError: unknown, remark: Remark): CallResult {
  const left = (what: string) => remark(origin.line, 'file_dropped', `A part of a result (${what}) was left out.`)
  const outcome = isError === true ? 'failed' : 'ok'
  return { role: 'result', ...origin, callId: String(id ?? ''), ...textAndFiles(content, left), outcome }
}

/** Reads the text and files of a result, which may be a text or a list of parts; calls `left` for other parts. */
function textAndFiles(content: unknown, left: (what: string) => void): Required<Pick<CallResult, 'text' | 'files'>> {
  if (typeof content === 'string') return { text: content, files: [] }
  if (!Array.isArray(content)) return { text: JSON.stringify(content ?? undefined) ?? '', files: [] }
  const files: FilePart[] = []
  const texts = content.map((part) => {
    if (typeof part === 'string') return part
    const { type, text, data, source } = json.object(part)
    if (typeof text === 'string') return text
    const kind = json.text(type) ?? 'part'
    const bytes = json.bytes(data ?? json.object(source)['data'])
    if (bytes) files.push({ type: 'file', bytes })
    else left(kind)
    return `[${kind}]`
  })
  return { text: texts.join('\n'), files }
}

type FilePart = Extract<ImportedPart, { type: 'file' }>

/** Returns the text of content that may have parts. */
export const textOf = (content: unknown): string => textAndFiles(content, () => undefined).text

/** Reads the parts of an answer. `readOther` reads calls, and returns null for an unknown part. */
export function answerParts(
  content: unknown,
  line: number,
  remark: Remark,
  readOther: (part: json.JsonObject) => readonly AnswerPart[] | null,
): readonly AnswerPart[] {
  return json.objects(content).flatMap((part) => {
    const { type } = part
    if (type === 'text' || type === 'thinking') return [{ type, text: json.text(part[type]) ?? '' }]
    const other = readOther(part)
    if (other === null) remarkUnknownPart(remark, line, type)
    return other ?? []
  })
}

/** Reads the texts and files of a prompt. */
export function userParts(content: unknown, line: number, remark: Remark): readonly ImportedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const parts = json.objects(content).flatMap(({ type, text, data, source }): readonly ImportedPart[] => {
    if (type === 'text') return [{ type, text: json.text(text) ?? '' }]
    const bytes = json.bytes(data ?? json.object(source)['data'])
    if (bytes) return [{ type: 'file', bytes }]
    remarkUnknownPart(remark, line, type)
    return []
  })
  return boundParts(parts, line, remark)
}

/** Reads the file of a data URL; leaves out any other address. */
export function fileOfUrl(url: unknown, line: number, remark: Remark): readonly FilePart[] {
  const bytes = json.bytes(/^data:[^,]*;base64,(.*)$/s.exec(json.text(url) ?? '')?.[1])
  if (bytes) return [{ type: 'file', bytes }]
  remark(line, 'file_dropped', 'A file that is stored elsewhere or unreadable was left out.')
  return []
}

export const joinTexts = (parts: readonly ImportedPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

/** Parses usage with Anthropic's field names, which most programs use. */
export function usage(value: unknown): Usage | undefined {
  const { input_tokens, output_tokens, ...cache } = json.object(value)
  return ifUsed({
    input: json.count(input_tokens),
    output: json.count(output_tokens),
    cacheRead: json.count(cache['cache_read_input_tokens'] ?? cache['cache_read_tokens']),
    cacheWrite: json.count(cache['cache_creation_input_tokens'] ?? cache['cache_write_tokens']),
    cost: null,
  })
}

/** Returns usage that counts any tokens. */
export const ifUsed = (usage: Usage): Usage | undefined =>
  usage.input + usage.output + usage.cacheRead + usage.cacheWrite > 0 ? usage : undefined

export const remarkUnknownPart = (remark: Remark, line: number, type: unknown): void =>
  remark(line, 'unknown_part', `A part of the unknown type ${JSON.stringify(type)} was left out.`)

/** Remarks that a record of an unknown type was left out; `noun` is what the other program calls it. */
export const remarkUnknownRecord = (remark: Remark, line: number, noun: string, type: unknown): void =>
  remark(line, 'unknown_record', `${noun} of the unknown type ${JSON.stringify(type)} was left out.`)

export function remarkSignatures(remark: Remark, count: number, noun = 'signatures'): void {
  if (count > 0) remark(null, 'signature_dropped', `${count} ${noun} of thinking were left out.`)
}

export const remarkUnknownRole = (remark: Remark, line: number, role: unknown, fate: string): void =>
  remark(line, 'unusable_message', `A message of the unknown role ${JSON.stringify(role)} ${fate}.`)
