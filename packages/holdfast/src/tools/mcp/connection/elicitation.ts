import type { AnswerValue, QuestionField, QuestionPreview, QuestionReply } from '@holdfast/protocol'
import { clip, limits } from '@holdfast/protocol'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { z } from 'zod'

type ElicitParams = ElicitRequest['params']

const messageCharsMax = 4000
const textCharsMax = 1000

const Named = z.object({ const: z.string(), title: z.string().optional() })
const Choice = z.object({
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(Named).optional(),
  anyOf: z.array(Named).optional(),
})
/** A field as servers describe it. The library has checked the request; this reads all of its forms alike. */
const Property = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  items: Choice.optional(),
  ...Choice.shape,
})
type Property = z.infer<typeof Property>

/** Turns a request of a server into a question for a person; null if it cannot be put to one. */
export function readElicitation(server: string, params: ElicitParams): QuestionPreview | null {
  const asked = { type: 'question', from: server, message: clip(params.message, messageCharsMax) } as const
  if (params.mode === 'url') {
    const url = URL.parse(params.url)
    return url && /^https?:$/.test(url.protocol) ? { ...asked, fields: [], url: url.href } : null
  }
  const { properties, required = [] } = params.requestedSchema
  const fields: QuestionField[] = []
  for (const [name, given] of Object.entries(properties)) {
    const property = Property.safeParse(given)
    if (!property.success || name.length > limits.questionNameCharsMax) return null
    fields.push(toField(name, property.data, required.includes(name)))
  }
  return fields.length > limits.questionFieldsMax ? null : { ...asked, fields }
}

function toField(name: string, property: Property, isRequired: boolean): QuestionField {
  const { type, title, description, format } = property
  const choices = optionsOf(type === 'array' ? (property.items ?? {}) : property)
  const kind =
    type === 'array' ? 'choices' : type !== 'string' ? type : choices === null ? ('text' as const) : ('choice' as const)
  const min = property.minimum ?? property.minLength ?? property.minItems
  const max = property.maximum ?? property.maxLength ?? property.maxItems
  const known = formats.find((one) => one === format)
  return {
    name,
    kind,
    isRequired,
    ...(title !== undefined && { title: clip(title, textCharsMax) }),
    ...(description !== undefined && { description: clip(description, textCharsMax) }),
    ...(property.default !== undefined && { default: property.default as AnswerValue }), // its type was checked
    ...(choices && { options: choices }),
    ...(kind === 'text' && known && { format: known }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
  }
}

const formats = ['email', 'uri', 'date', 'date-time'] as const

/** Returns the options in any of the forms of the protocol; null if there are none. */
function optionsOf({
  enum: values,
  enumNames = [],
  oneOf,
  anyOf,
}: z.infer<typeof Choice>): QuestionField['options'] | null {
  const named = oneOf ?? anyOf
  if (named) return named.map(({ const: value, title }) => ({ value, label: title ?? value }))
  return values ? values.map((value, index) => ({ value, label: enumNames[index] ?? value })) : null
}

/** Turns the reply of a person into the answer to a server. */
export function toElicitResult({ url }: QuestionPreview, reply: QuestionReply): ElicitResult {
  if (reply.action !== 'accept' || url !== undefined) return { action: reply.action }
  return { action: 'accept', content: reply.answers }
}
