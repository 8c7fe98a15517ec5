import { errorMessage, fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'

/** A schema of any library that follows the Standard Schema (standardschema.dev), such as Zod, Valibot and ArkType. */
export interface StandardSchema<Value = unknown> {
  /** The interface that schema libraries share. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Value> | Promise<StandardResult<Value>>
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined
    /** Present in libraries that also follow the Standard JSON Schema. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => object } | undefined
  }
}

/** What `validate` of a Standard Schema returns: the value, or what is wrong. */
export type StandardResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One problem that a Standard Schema found. */
export type StandardIssue = {
  /** Why the value is invalid. */
  readonly message: string
  /** Where in the value; the value itself when absent. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema of an object. */
export type JsonSchema = { readonly type: 'object'; readonly [keyword: string]: unknown }

/** Describes the arguments of a tool: a Standard Schema or a JSON Schema. */
export type ToolInput = StandardSchema | JsonSchema

/** The type of the arguments that an input describes. */
export type ArgumentsOf<Input> =
  Input extends StandardSchema<infer Value> ? Value : Input extends JsonSchema ? FromJsonSchema<Input> : never

/** The type of the values that a JSON Schema accepts, as far as types can say. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: readonly (infer Name)[] }
      ? FromTypeName<Schema, Name>
      : Schema extends { readonly type: 'string' }
        ? string
        : Schema extends { readonly type: 'number' | 'integer' }
          ? number
          : Schema extends { readonly type: 'boolean' }
            ? boolean
            : Schema extends { readonly type: 'null' }
              ? null
              : Schema extends { readonly type: 'array'; readonly items: infer Items }
                ? readonly FromJsonSchema<Items>[]
                : Schema extends { readonly type: 'object'; readonly properties: infer Properties }
                  ? FromProperties<
                      Properties,
                      Schema extends { readonly required: readonly (infer Name)[] } ? Name : never
                    >
                  : unknown

/** The type of the values that a JSON Schema with several types accepts: each type for itself. */
export type FromTypeName<Schema, Name> = Name extends unknown
  ? FromJsonSchema<Omit<Schema, 'type'> & { readonly type: Name }>
  : never

/** The type of an object with these properties. Those in `required` must be present. */
export type FromProperties<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]>
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?:
    | FromJsonSchema<Properties[Name]>
    | undefined
}

/** An input as the runtime uses it. */
export type CheckedInput = {
  /** The JSON Schema for the model. */
  readonly schema: { readonly [keyword: string]: unknown }
  /** Returns the arguments, with defaults filled in, or a fault that names every problem. */
  readonly check: (args: unknown) => Promise<Result<unknown>>
}

/** Reads the input of a tool. `given` is its JSON Schema, if the schema's library cannot make one. Throws `bad_request`. */
export function readInput(tool: string, input: unknown, given?: object): CheckedInput {
  if (!isObject(input) || !('~standard' in input)) {
    if (isObject(input) && 'type' in input && input.type === 'object') return { ...fromJsonSchema(tool, input) }
    throw badTool(tool, 'its input must be a Standard Schema or a JSON Schema of type object.')
  }
  // It has the mark of the standard.
  const standard = (input as StandardSchema)['~standard']
  const schema = given ?? jsonSchemaOf(tool, standard)
  if (!schema) {
    const newer = standard.vendor === 'zod' ? 'use Zod 4' : 'use a schema that follows the Standard JSON Schema'
    const how = `Give it as jsonSchema, or ${newer}.`
    throw badTool(tool, `its schema (${standard.vendor}) cannot be turned into a JSON Schema. ${how}`)
  }
  return { schema: objectSchema(tool, schema), check: async (args) => toResult(tool, await standard.validate(args)) }
}

function jsonSchemaOf(tool: string, { jsonSchema }: StandardSchema['~standard']): object | undefined {
  try {
    return jsonSchema?.input({ target: 'draft-07' })
  } catch (error) {
    const how = 'Use types that JSON has, such as a text for a date, or give the schema for the model as jsonSchema.'
    throw badTool(
      tool,
      `its input cannot be turned into a JSON Schema: ${errorMessage(error).replace(/\.$/, '')}. ${how}`,
    )
  }
}

/** Returns the schema for the model. Providers take objects only, and want the type also beside a union of objects. */
function objectSchema(tool: string, schema: object): { readonly [keyword: string]: unknown } {
  if (!acceptsObjects(schema))
    throw badTool(tool, 'its input must be the schema of an object, such as z.object({ city: z.string() }).')
  return { type: 'object', ...withoutMark(schema) }
}

function acceptsObjects(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { type, anyOf, oneOf, allOf } = schema as { readonly [keyword: string]: unknown } // any object has keywords
  if (type !== undefined) return type === 'object'
  const parts = [anyOf, oneOf, allOf].find((one) => Array.isArray(one))
  return parts !== undefined && (parts as readonly unknown[]).every(acceptsObjects)
}

/** Reads a JSON Schema; it is checked with Zod. */
function fromJsonSchema(tool: string, schema: object): CheckedInput {
  try {
    // Zod throws for what is not a JSON Schema.
    const { '~standard': standard } = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    return { schema: withoutMark(schema), check: async (args) => toResult(tool, await standard.validate(args)) }
  } catch (error) {
    throw badTool(tool, `its JSON Schema cannot be used: ${errorMessage(error)}`)
  }
}

function toResult(tool: string, result: StandardResult<unknown>): Result<unknown> {
  if (!('issues' in result) || result.issues === undefined) return ok(result.value)
  const wrongs = result.issues.map(({ message, path = [] }) => {
    const where = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  return refuse(fault('bad_request', `${tool} cannot use these arguments: ${wrongs.slice(0, 10).join('; ')}.`))
}

/** Returns the schema without the address of its dialect, which models do not need. */
function withoutMark(schema: object): { readonly [keyword: string]: unknown } {
  const { $schema: _, ...rest } = { ...schema } as { readonly [keyword: string]: unknown } // any object has keywords
  return rest
}

export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

export const badTool = (tool: string, why: string): HoldfastError =>
  new HoldfastError(fault('bad_request', `The tool ${tool} cannot be used: ${why}`, { tool }))
