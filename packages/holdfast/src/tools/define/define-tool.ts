import type { Prepared, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type Fault, fault, limits, type Output, type ProcessMark, type Result, refuse } from '@holdfast/protocol'
import type { z } from 'zod'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import { checkArguments, inputSchema } from './arguments.ts'

/** What a call would do: all that the runtime learns from `prepare` except the arguments. */
type Previewed = Omit<Extract<Prepared, { type: 'ready' }>, 'type' | 'args'>

type ToolDefinition<Shape extends z.ZodObject> = {
  readonly name: string
  readonly description: string
  readonly input: Shape
  readonly changes: 'nothing' | 'something'
  /** Returns what the call would do. Changes nothing. */
  readonly preview: (args: z.infer<Shape>, context: ToolContext, signal: AbortSignal) => Promise<Result<Previewed>>
  /** Runs the call. Awaits `begun` before it changes anything, as `whenBegun` does. */
  readonly run: (args: z.infer<Shape>, context: ToolContext, run: ToolRun) => Promise<ToolResult>
}

/** Creates a tool from its definition: parses arguments, and turns system errors into sentences. */
export function defineTool<Shape extends z.ZodObject>(definition: ToolDefinition<Shape>): Tool {
  const { name, description, input, changes } = definition
  let described: ReturnType<typeof inputSchema> | null = null
  return {
    schema: {
      name,
      description,
      // On first use: the schemas of all tools take a tenth of the time in which a store opens.
      get input() {
        described ??= inputSchema(input)
        return described
      },
    },
    isDestructive: changes === 'something',
    isReadOnly: changes === 'nothing',

    async prepare(args, context, signal): Promise<Prepared> {
      const checked = checkArguments(name, input, args)
      if (!checked.ok) return { type: 'unusable', message: describeFault(checked.fault) }
      const previewed = await definition.preview(checked.value, context, signal).catch(foreseen)
      if (!previewed.ok) return toUnusable(previewed.fault)
      return { type: 'ready', args: checked.value, ...previewed.value }
    },

    async run(args, context, run) {
      const checked = checkArguments(name, input, args)
      if (checked.ok) return definition.run(checked.value, context, run)
      return (await begun(run)) ? failedWith(checked.fault) : abortedResult
    },
  }
}

/** An edit outside of a boundary is denied; anything else is a mistake of the call. */
const toUnusable = (why: Fault): Prepared =>
  why.code === 'outside_boundary'
    ? { type: 'unusable', message: why.message, denied: why.code }
    : { type: 'unusable', message: describeFault(why), ...(quotingCodes.has(why.code) && { quotesFile: true }) }

/** The faults that show the model what a file has instead of what it expected. */
const quotingCodes: ReadonlySet<string> = new Set(['no_match', 'ambiguous', 'already_applied', 'no_context'])

/** Turns a system error into a fault for the model. Any other error is our bug and is thrown again. */
export function foreseen(error: unknown): Result<never> {
  if (systemErrorCode(error) === null) throw error
  return refuse(fault('storage_error', systemErrorWords(error)))
}

const describeFault = ({ code, message }: Fault) => `${code}: ${message}`

export const failedWith = (why: Fault): ToolResult => ({ type: 'failed', output: { text: describeFault(why) } })

/** What a call has done. */
export type Done = Pick<ToolResult, 'files' | 'seen'> & {
  /** Files that the model gets beside the text. */
  readonly fileParts?: Output['fileParts']
  readonly text: string
  readonly isFailed?: boolean
  /** The text is bounded by the tool itself, and the model gets all of it. */
  readonly isWhole?: boolean
}

/** Runs `work` once the start of the call is recorded. Returns its text, inline if short and else as a blob, or its fault. */
export function whenBegun<Args>(work: (args: Args, context: ToolContext, run: ToolRun) => Promise<Result<Done>>) {
  return async (args: Args, context: ToolContext, run: ToolRun): Promise<ToolResult> => {
    if (!(await begun(run))) return abortedResult
    const done = await work(args, context, run).catch(foreseen)
    if (!done.ok) return run.signal.aborted ? abortedWith(done.fault) : failedWith(done.fault)
    const { text, isFailed, isWhole, files, seen, fileParts } = done.value
    const bytes = Buffer.from(text)
    const output =
      isWhole || bytes.length <= limits.toolOutputInlineBytesMax ? { text } : await run.storeOutput([bytes])
    return {
      type: isFailed ? 'failed' : 'ok',
      output: fileParts ? { ...output, fileParts } : output,
      ...(files && { files }),
      ...(seen && seen.length > 0 && { seen }),
    }
  }
}

/**
 * Waits until the start of the call is on stable storage. Returns false if the call was aborted meanwhile: a stuck disk
 * must not delay an abort. Rejects as `begin` does.
 */
export async function begun({ signal, begin }: ToolRun, process?: ProcessMark): Promise<boolean> {
  if (signal.aborted) return false
  const aborted = Promise.withResolvers<false>()
  const abort = () => aborted.resolve(false)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([begin(process).then(() => !signal.aborted), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** An abort is no bad request. What was refused because of it says how far the call came. */
const abortedWith = (why: Fault): ToolResult =>
  why.message.startsWith('aborted') ? { type: 'failed', output: { text: why.message } } : failedWith(why)

export const abortedResult: ToolResult = { type: 'failed', output: { text: 'aborted' } }
