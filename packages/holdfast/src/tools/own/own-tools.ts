import type { Tool } from '@holdfast/core/ports'
import { escapeLine, fault, HoldfastError } from '@holdfast/protocol'
import { createOwnTool, type RunContext, type ToolMedia, type ToolOutput } from './define-own-tool.ts'
import { badTool, type CheckedInput, isObject, readInput } from './tool-input.ts'

/** The parts of an AI SDK tool (`tool()`) that are used. Its input is any schema that the AI SDK takes. */
export type AiSdkTool = {
  /** Tells the model what the tool does. */
  readonly description?: unknown
  /** The schema of the arguments. */
  readonly inputSchema?: unknown
  /** Runs the call. A tool without it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: a tool of any input, context and output fits
  readonly execute?: ((input: any, options: any) => unknown) | undefined
  /** Turns the result into what the model receives. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly toModelOutput?: ((options: any) => unknown) | undefined
}

/** The tools of a program: a list made with `defineTool`, or AI SDK tools by name, or both in one list. */
export type OwnTools = readonly (Tool | AiSdkTools)[] | AiSdkTools

/** AI SDK tools by name, as `generateText` takes them. */
export type AiSdkTools = { readonly [name: string]: AiSdkTool }

/** Reads the tools that a program brings. Throws `bad_request` for one that cannot be used. */
export async function readOwnTools(given: OwnTools = []): Promise<readonly Tool[]> {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  const tools = await Promise.all(list.map((one) => (isTool(one) ? [one] : readAiSdkTools(one))))
  return tools.flat()
}

/** Returns the tools in one list. Throws `bad_request` if two have the same name. */
export function joinTools(builtIn: readonly Tool[], own: readonly Tool[]): readonly Tool[] {
  const all = [...builtIn, ...own]
  const names = all.map(({ schema }) => schema.name)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double !== undefined) throw badTool(double, 'there is already a tool of this name. Choose another name.')
  return all
}

const isTool = (value: unknown): value is Tool => {
  if (!isObject(value)) return false
  const { schema, prepare, run } = value as { readonly [field: string]: unknown } // any object has fields
  return isObject(schema) && typeof prepare === 'function' && typeof run === 'function'
}

function readAiSdkTools(tools: unknown): Promise<readonly Tool[]> {
  if (!isObject(tools) || typeof tools === 'function' || Array.isArray(tools)) throw new HoldfastError(noTool)
  if ('execute' in tools || 'inputSchema' in tools) throw new HoldfastError(nameless)
  if ('run' in tools && 'description' in tools) throw new HoldfastError(undefinedTool)
  return Promise.all(Object.entries(tools).map(([name, tool]) => readAiSdkTool(name, tool)))
}

const noTool = fault(
  'bad_request',
  'The option tools has a value that is not a tool. Use defineTool, or give AI SDK tools by name: { tools: { weather: tool(…) } }.',
)

const undefinedTool = fault(
  'bad_request',
  'The option tools has a definition that defineTool has not checked. Write tools: [defineTool({ name, description, input, run })].',
)

const nameless = fault(
  'bad_request',
  'A tool in the option tools has no name. Use defineTool, or give AI SDK tools by name: { tools: { weather: tool(…) } }.',
)

/** Reads an AI SDK tool. It does not say what it changes, so it counts as a change and needs approval. */
async function readAiSdkTool(name: string, tool: AiSdkTool): Promise<Tool> {
  if (!isObject(tool)) throw badTool(name, 'it is not a tool. Use defineTool, or a tool of the AI SDK.')
  const { execute } = tool
  if (typeof execute !== 'function') throw badTool(name, 'it has no execute function, so it cannot run here.')
  return createOwnTool({
    name,
    description: typeof tool.description === 'string' ? tool.description : '',
    input: await readAiSdkInput(name, tool.inputSchema),
    async run(args, context) {
      const toolCallId = `${name}-${crypto.randomUUID()}`
      const options = { toolCallId, messages: [], abortSignal: context.signal, context: {}, experimental_context: {} }
      const output = await lastOf(execute(args, options), context)
      return tool.toModelOutput ? toOutput(await tool.toModelOutput({ toolCallId, input: args, output })) : output
    },
  })
}

/** Reads a schema of the AI SDK: lazy, made by `jsonSchema()` or `zodSchema()`, or a Standard Schema. */
async function readAiSdkInput(tool: string, schema: unknown): Promise<CheckedInput> {
  if (typeof schema === 'function' && !('~standard' in schema)) return readAiSdkInput(tool, schema())
  if (!isObject(schema) || '~standard' in schema || !('jsonSchema' in schema)) return readInput(tool, schema)
  const { jsonSchema, validate } = schema as AiSdkSchema // it has the field of one
  const checked = readInput(tool, await (typeof jsonSchema === 'function' ? jsonSchema() : jsonSchema))
  if (!validate) return checked
  return {
    schema: checked.schema,
    async check(args) {
      const result = await validate(args)
      if (result.success) return { ok: true, value: result.value }
      const message = `${tool} cannot use these arguments: ${result.error.message}`
      return { ok: false, fault: fault('bad_request', message) }
    },
  }
}

type AiSdkSchema = {
  readonly jsonSchema: unknown
  readonly validate?: ((value: unknown) => AiSdkValidation | PromiseLike<AiSdkValidation>) | undefined
}
type AiSdkValidation =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error }

/** Returns the last value of a tool that streams its results, and shows the others; else its only value. */
async function lastOf(output: unknown, { progress }: RunContext): Promise<unknown> {
  if (!isObject(output) || !(Symbol.asyncIterator in output)) return output
  let last: unknown
  let isFirst = true
  for await (const value of output as AsyncIterable<unknown>) {
    if (!isFirst) progress(`${typeof last === 'string' ? last : JSON.stringify(last)}\n`)
    isFirst = false
    last = value
  }
  return last
}

/** Turns the output that an AI SDK tool makes for the model into ours. */
function toOutput(output: unknown): ToolOutput {
  const { type, value } = output as { readonly type: string; readonly value: unknown } // as the AI SDK declares it
  const isError = type.startsWith('error')
  if (type !== 'content' || !Array.isArray(value))
    return { text: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), isError }
  const parts = (value as readonly AiSdkPart[]).map(readPart)
  return {
    text: parts.filter((part) => typeof part === 'string').join('\n'),
    media: parts.filter((part) => typeof part !== 'string'),
  }
}

/** A part of an output with content: of the AI SDK 7 (`file`), 6 (`file-data`, `image-data`, `file-url` …) or 5 (`media`). */
type AiSdkPart = {
  readonly type: string
  readonly text?: string
  readonly data?: unknown
  readonly url?: string
  readonly filename?: string
}

/** Returns the bytes of a part, or its text. A file that is elsewhere is named: Holdfast fetches nothing for a tool. */
function readPart(part: AiSdkPart): string | ToolMedia {
  const { type, text, data, url, filename } = part
  if (type === 'text') return String(text)
  const inner = isObject(data) && 'type' in data ? (data as AiSdkPart) : { data, url, text }
  if (typeof inner.text === 'string') return inner.text
  const bytes = bytesOf(inner.data)
  if (bytes) return { bytes, ...(filename !== undefined && { name: filename }) }
  return inner.url === undefined ? `[a ${type} part, which cannot be shown]` : `[${escapeLine(String(inner.url))}]`
}

/** Returns the bytes of data as the AI SDK takes it: Base64 or bytes. */
function bytesOf(data: unknown): Uint8Array | null {
  if (typeof data === 'string') return Buffer.from(data, 'base64')
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return data instanceof Uint8Array ? data : null
}
