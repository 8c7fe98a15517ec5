import type { ToolArgs } from '@holdfast/core/ports'
import { clip, escapeLine, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'

const wellFormed = (text: string) => text.isWellFormed()
const noNul = (text: string) => !text.includes('\0')

/** Text from a model. An unpaired surrogate has no UTF-8 form: the file would differ from the preview. */
export const textArgument = z
  .string({ error: 'must be a text' })
  .refine(wellFormed, 'must be well-formed Unicode: it holds half a character')

export const pathArgument = textArgument
  .min(1, 'must not be empty')
  .max(limits.toolPathCharsMax, `must not be longer than ${limits.toolPathCharsMax} characters`)
  .refine(noNul, 'must not hold a NUL character')

export const filePathArgument = pathArgument.refine((path) => !path.endsWith('/'), 'must name a file, not a directory')

export const commandArgument = textArgument
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine(noNul, 'must not hold a NUL character')
  // The system accepts no longer argument; rejected here rather than as a failure to start.
  .refine(
    (text) => Buffer.byteLength(text) <= limits.shellCommandBytesMax,
    `must not be longer than ${limits.shellCommandBytesMax} bytes; put it in a file`,
  )

export const countArgument = z
  .int({ error: 'must be a whole number' })
  .min(1, 'must be at least 1')
  .max(1_000_000_000, 'must be at most 1000000000')

/** Parses the arguments of a call. A fault names the problems in one sentence. */
export function checkArguments<Shape extends z.ZodObject>(
  tool: string,
  shape: Shape,
  args: ToolArgs,
): Result<z.infer<Shape>> {
  const parsed = shape.safeParse(args)
  if (parsed.success) return ok(parsed.data)
  const wrongs = parsed.error.issues.slice(0, wrongsMax).map((issue) => wrongOf(issue, args))
  const takes = Object.keys(shape.shape).join(', ')
  return refuse(fault('bad_request', `${tool} cannot use these arguments: ${wrongs.join('; ')}. It takes ${takes}.`))
}

const namesCharsMax = 200
const wrongsMax = 20

/** Joins the first names: each has at least one character. */
const namesOf = (keys: readonly string[]): string =>
  keys
    .slice(0, namesCharsMax)
    .map((key) => escapeLine(key.slice(0, namesCharsMax)))
    .join(', ')

function wrongOf(issue: z.core.$ZodIssue, args: unknown): string {
  if (issue.code === 'unrecognized_keys') return `there is no ${clip(namesOf(issue.keys), namesCharsMax)}`
  const [name] = issue.path
  if (name === undefined) return 'they must be an object'
  if (typeof args === 'object' && args !== null && !Object.hasOwn(args, name)) return `${String(name)} is missing`
  return `${String(name)} ${issue.message}`
}

/** Returns the JSON Schema of the arguments for the model. */
export function inputSchema(shape: z.ZodObject): { readonly [key: string]: unknown } {
  const { $schema, ...schema } = z.toJSONSchema(shape, { io: 'input' })
  return schema
}
