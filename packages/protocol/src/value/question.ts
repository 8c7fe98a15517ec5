import { z } from 'zod'
import { fault } from './fault.ts'
import { limits } from './limits.ts'
import { ok, type Result, refuse } from './result.ts'

/** The value of one field of an answer. */
export const AnswerValue = z.union([
  z.string().max(limits.fieldCharsMax),
  z.number(),
  z.boolean(),
  z.array(z.string().max(limits.fieldCharsMax)).max(limits.fieldOptionsMax),
])
export type AnswerValue = z.infer<typeof AnswerValue>

/** The answer to a question, by the names of its fields. */
export const Answers = z.record(z.string().max(limits.questionNameCharsMax), AnswerValue)
export type Answers = z.infer<typeof Answers>

/** A field of a question. */
export const QuestionField = z.object({
  /** Its name in the answer. */
  name: z.string(),
  /** What people read instead of the name. */
  title: z.string().optional(),
  /** What it is about. */
  description: z.string().optional(),
  /** `choice` is one of the options, `choices` are any number of them. */
  kind: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
  /** Whether the answer must have a value for it. */
  isRequired: z.boolean(),
  /** The value if the answer has none. */
  default: AnswerValue.optional(),
  /** The values to choose from, with what people read. */
  options: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
  /** What kind of text it is. */
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  /** The least: of the number, of the characters of a text, or of the options to choose. */
  min: z.number().optional(),
  /** The most of the same. */
  max: z.number().optional(),
})
export type QuestionField = z.infer<typeof QuestionField>

/** How a person reacted to a question. `cancel`: they made no choice. */
export const QuestionReply = z.discriminatedUnion('action', [
  z.object({ action: z.literal('accept'), answers: Answers }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
])
export type QuestionReply = z.infer<typeof QuestionReply>

const formats = { email: z.email(), uri: z.url(), date: z.iso.date(), 'date-time': z.iso.datetime({ offset: true }) }
const formatWords = {
  email: 'an email address',
  uri: 'a URL',
  date: 'a date such as 2026-07-28',
  'date-time': 'a time such as 2026-07-28T09:30:00Z',
}

/** Checks an answer, and fills in the defaults of the fields that it leaves out. Refused: `bad_request`. */
export function checkAnswers(fields: readonly QuestionField[], given: Answers): Result<Answers> {
  const values = new Map(Object.entries(given))
  const bad = (name: string, why: string) => refuse(fault('bad_request', `The answer ${why}.`, { field: name }))
  for (const name of values.keys())
    if (!fields.some((field) => field.name === name)) return bad(name, `has a field that was not asked for: ${name}`)
  const checked: [string, AnswerValue][] = []
  for (const field of fields) {
    const { name } = field
    const value = values.get(name) ?? field.default
    if (value === undefined) {
      if (field.isRequired) return bad(name, `needs a value for ${name}`)
      continue
    }
    const problem = findProblem(field, value)
    if (problem !== null) return bad(name, `is not valid: ${name} must be ${problem}`)
    checked.push([name, value])
  }
  return ok(Object.fromEntries(checked))
}

/** Returns what the value of a field must be, if it is not that. */
function findProblem(field: QuestionField, value: AnswerValue): string | null {
  const options = field.options ?? []
  const isOption = (text: unknown) => options.some((option) => option.value === text)
  const oneOf = `one of ${options.map((option) => option.value).join(', ')}`
  switch (field.kind) {
    case 'text':
      if (typeof value !== 'string') return 'a text'
      if (field.format !== undefined && !formats[field.format].safeParse(value).success)
        return formatWords[field.format]
      return findExcess(field, value.length, 'characters long')
    case 'number':
    case 'integer':
      if (typeof value !== 'number') return 'a number'
      if (field.kind === 'integer' && !Number.isInteger(value)) return 'a whole number'
      return findExcess(field, value, '')
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false'
    case 'choice':
      return isOption(value) ? null : oneOf
    case 'choices':
      if (!Array.isArray(value) || !value.every(isOption)) return `a list of ${oneOf}`
      return findExcess(field, value.length, 'options')
  }
}

function findExcess({ min, max }: QuestionField, size: number, unit: string): string | null {
  if (min !== undefined && size < min) return `at least ${min} ${unit}`.trimEnd()
  return max !== undefined && size > max ? `at most ${max} ${unit}`.trimEnd() : null
}
