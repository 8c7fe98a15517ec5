import type { Prepared, Tool, ToolArgs, ToolBlobs, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import {
  errorMessage,
  escapeLine,
  explainIssue,
  type FileChange,
  fault,
  HoldfastError,
  type Json,
  limits,
  type Output,
  ok,
  Preview,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { abortedResult, begun, failedWith } from '../define/define-tool.ts'
import { checkDefinition, checkName } from './check-definition.ts'
import { type CallPlace, checkOutput, createCallBlobs, WrongOutput } from './check-output.ts'
import { createParsedCalls, hashParsed, type ParsedCall } from './parsed-calls.ts'
import { type ArgumentsOf, badTool, type CheckedInput, isObject, readInput, type ToolInput } from './tool-input.ts'

/** A tool of the program that embeds Holdfast. */
export type ToolDefinition<Input extends ToolInput> = {
  /** Letters, digits, `_` and `-`, at most 64; not the name of a built-in tool, and not `mcp__…`. */
  readonly name: string
  /** Tells the model what it does, and when to use it. */
  readonly description: string
  /** The arguments: any Standard Schema (Zod, Valibot, ArkType …) or a JSON Schema. */
  readonly input: Input
  /** The JSON Schema for the model, if `input` is of a library that cannot make one. */
  readonly jsonSchema?: object | undefined
  /** Changes something: denied in plan mode, asked for in exec mode. True by default, unless `readOnly`. */
  readonly destructive?: boolean | undefined
  /** Changes nothing: also offered to sessions with `readOnly`. */
  readonly readOnly?: boolean | undefined
  /** Returns what a person is shown before they approve the call; its arguments by default. Changes nothing. */
  readonly preview?: ((args: ArgumentsOf<Input>, context: ToolContext) => Preview | Promise<Preview>) | undefined
  /** Runs the call. Called after approval, once the start is on stable storage. A thrown error is a failed call. */
  readonly run: (args: ArgumentsOf<Input>, context: RunContext) => ToolReturn | Promise<ToolReturn>
}

/** What a running tool can use. */
export type RunContext = {
  /** Aborts when a person stops the turn. */
  readonly signal: AbortSignal
  /** The folder of the session. */
  readonly workdir: string
  /** Shows live output on every screen. It is not recorded. */
  readonly progress: (text: string) => void
  /** The files of the session. */
  readonly blobs: ToolBlobs
}

/** The result of a call for the model: a text, a value that is sent as JSON, or an output with details. */
export type ToolReturn = string | ToolOutput | object | number | boolean | null | undefined

/** A result with details. */
export type ToolOutput = {
  /** For the model. A long text is stored as a blob, and the model gets its head and tail. */
  readonly text: string
  /** The call failed. */
  readonly isError?: boolean | undefined
  /** The files that the call changed, relative to `workdir` and inside it, at most 1,000. They are recorded. */
  readonly files?: readonly FileChange[] | undefined
  /** A blob that `blobs.put` stored or that the session has, to be kept with the result. */
  readonly blob?: { readonly hash: string; readonly bytes: number } | undefined
  /**
   * Images and PDF files that the model gets beside the text, if it takes them; at most 64. Their types are recognised by
   * their bytes, and large images are scaled down. The text names a file that cannot be sent to a model.
   */
  readonly media?: readonly ToolMedia[] | undefined
}

/** A file of a result that the model shall see. */
export type ToolMedia = {
  /** The content of the file. */
  readonly bytes: Uint8Array
  /** Its name, for people; `file` by default. */
  readonly name?: string | undefined
}

/** Defines a tool for `openHoldfast({ tools })`. Throws `bad_request` if the definition cannot be used. */
export function defineTool<const Input extends ToolInput>(definition: ToolDefinition<Input>): Tool {
  checkDefinition(definition)
  const { name, input, jsonSchema, preview, run } = definition
  return createOwnTool({
    ...definition,
    input: readInput(name, input, jsonSchema),
    // The input has checked the arguments, so they have its type.
    preview: preview && ((args, context) => preview(args as ArgumentsOf<Input>, context)),
    run: (args, context) => run(args as ArgumentsOf<Input>, context),
  })
}

/** A definition whose input was read. */
type CheckedDefinition = Pick<ToolDefinition<ToolInput>, 'name' | 'description' | 'destructive' | 'readOnly'> & {
  readonly input: CheckedInput
  readonly preview?: ((args: unknown, context: ToolContext) => Preview | Promise<Preview>) | undefined
  readonly run: (args: unknown, context: RunContext) => unknown
}

/** Creates a tool of the runtime from a definition. */
export function createOwnTool({ name, description, input, preview, run, ...kind }: CheckedDefinition): Tool {
  const { readOnly = false, destructive = !readOnly } = kind
  checkName(name)
  if (readOnly && destructive) throw badTool(name, 'it cannot be both readOnly and destructive.')
  const calls = createParsedCalls()

  return {
    schema: { name, description, input: input.schema },
    isDestructive: destructive,
    isReadOnly: readOnly,

    // The arguments of a call are its content. No other call changes them.
    isIndependent: true,

    async prepare(args, context): Promise<Prepared> {
      const known = calls.find(context.approved)
      if (known) return known.ready
      const parsed = await parse(args, context)
      if (!parsed.ok) return { type: 'unusable', message: parsed.fault.message }
      const { ready } = parsed.value
      if (ready.contentHash) calls.add(ready.contentHash, parsed.value, JSON.stringify(args).length)
      return ready
    },

    async run(args, context, call): Promise<ToolResult> {
      const known = calls.take(call.contentHash)
      const parsed = known ? ok(known) : await parse(args, context)
      if (!(await begun(call))) return abortedResult
      if (!parsed.ok) return failedWith(parsed.fault)
      const { value, ready } = parsed.value
      if (call.contentHash !== undefined && ready.contentHash !== call.contentHash) return failedWith(notApproved(name))
      const { workdir } = context
      try {
        const { signal, show: progress } = call
        const blobs = createCallBlobs(call.blobs ?? noBlobs)
        const { put, open } = blobs
        const returned = await run(value, { signal, workdir, progress, blobs: { put, open } })
        return await toResult(returned, call, { tool: name, workdir, blobs })
      } catch (error) {
        if (error instanceof WrongOutput) return failedWith(error.fault)
        return { type: 'failed', output: await toOutput(`The tool ${name} failed: ${errorMessage(error)}`, call) }
      }
    },
  }

  /** Parses the arguments of a call, and makes its preview. */
  async function parse(args: ToolArgs, context: ToolContext): Promise<Result<ParsedCall>> {
    const checked = await input.check(args)
    if (!checked.ok) return checked
    const { value } = checked
    try {
      const shown = preview && Preview.safeParse(await preview(value, context))
      if (shown && !shown.success)
        return refuse(fault('bad_request', `The preview of the tool ${name} is wrong: ${explainIssue(shown.error)}.`))
      // What will run: the schema may have added defaults or converted values.
      const byDefault = () => ({ type: 'arguments' as const, args: jsonOf(value) ?? { ...args } })
      const contentHash = hashParsed(`${context.session} ${name}`, args, value)
      return ok({ value, ready: { type: 'ready', args, preview: shown?.data ?? byDefault(), contentHash } })
    } catch (error) {
      return refuse(fault('bad_request', `The tool ${name} refuses these arguments: ${errorMessage(error)}`))
    }
  }
}

const notApproved = (tool: string) =>
  fault(
    'content_changed',
    `The schema of the tool ${tool} now makes other arguments than those that were approved. Nothing was run.`,
  )

/** Returns a value as it looks in JSON; null if it is no object there. */
function jsonOf(value: unknown): Record<string, Json> | null {
  try {
    const json: unknown = JSON.parse(JSON.stringify(value))
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, Json>) : null // as JSON.parse returns it
  } catch {
    return null // a BigInt, or a circle
  }
}

async function toResult(returned: unknown, call: ToolRun, place: CallPlace): Promise<ToolResult> {
  if (!isOutput(returned)) return { type: 'ok', output: await toOutput(textOf(returned), call) }
  const { isError } = returned
  const { files, blob, media } = await checkOutput(returned, place)
  const { unshown, fileParts } = await storeMedia(media, call)
  const output = await toOutput([returned.text, ...unshown].filter((text) => text !== '').join('\n'), call)
  return {
    type: isError ? 'failed' : 'ok',
    output: {
      ...output,
      ...(blob && !output.blob && { blob }),
      ...(fileParts.length > 0 && { fileParts }),
    },
    ...(files && { files }),
  }
}

/** Stores files for the model, and names those that no model could be sent. */
async function storeMedia(media: readonly ToolMedia[], { storeFile }: ToolRun) {
  const fileParts: NonNullable<Output['fileParts']> = []
  const unshown: string[] = []
  for (const { bytes, name = 'file' } of media) {
    const stored = await storeFile?.(bytes, name)
    if (stored?.ok) fileParts.push(stored.value.file)
    else unshown.push(`[${escapeLine(name)}: ${bytes.length} bytes, which cannot be shown]`)
  }
  return { fileParts, unshown }
}

/** Stores a long text as a blob. */
async function toOutput(text: string, { storeOutput }: ToolRun): Promise<Output> {
  const bytes = Buffer.from(text)
  return bytes.length <= limits.toolOutputInlineBytesMax ? { text } : storeOutput([bytes])
}

const outputFields = new Set(['text', 'isError', 'files', 'blob', 'media'])

/** Whether a value is an output with details, and not a value of the program's own that has a text. */
const isOutput = (value: unknown): value is ToolOutput =>
  isObject(value) &&
  'text' in value &&
  typeof value.text === 'string' &&
  Object.keys(value).every((key) => outputFields.has(key))

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? 'done' : (JSON.stringify(value) ?? String(value))

/** For a caller that has no blobs, such as a test of the tool alone. */
const noBlobs: ToolBlobs = {
  put: () => Promise.reject(new HoldfastError(unavailable)),
  open: () => Promise.reject(new HoldfastError(unavailable)),
}
const unavailable = fault('blob_not_found', 'This call has no files.')
