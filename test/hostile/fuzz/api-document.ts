import type { TokenRole } from '@holdfast/protocol'
import type { Dice } from '@holdfast/testkit'

/** A part of a JSON Schema, as the OpenAPI document has it. */
export type Shape = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly properties?: { readonly [name: string]: Shape }
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly additionalProperties?: boolean | Shape
  readonly pattern?: string
  readonly format?: string
}

type Parameter = {
  readonly $ref?: string
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Shape
}

type Content = { readonly [mediaType: string]: { readonly schema?: Shape } }

type Described = {
  readonly 'x-holdfast-role'?: TokenRole
  readonly 'x-holdfast-session-role'?: TokenRole
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly [status: string]: { readonly $ref?: string; readonly content?: Content } }
}

/** The part of the OpenAPI document that requests are made from. */
export type ApiDocument = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Described } }
  readonly components: {
    readonly schemas: { readonly [name: string]: Shape }
    readonly responses: { readonly [name: string]: { readonly content: Content } }
  }
}

/** One route with its input, and the codes that it may refuse with. */
export type Operation = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** The schema of a JSON body; `bytes` for a route that takes a file. */
  readonly body: Shape | 'bytes' | null
  readonly codes: ReadonlySet<string>
  /** Null for a route without a token. */
  readonly leastRole: TokenRole | null
  /** That of a token for one session; null if none may call it. */
  readonly leastRoleOfOne: TokenRole | null
}

/** Reads the routes of the document. */
export function readOperations({ paths, components }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses, ...access }]) => {
      const content = requestBody?.content ?? {}
      const json = content['application/json']?.schema
      const codes = Object.values(responses).flatMap(({ $ref }) => {
        const answer = components.responses[$ref?.split('/').at(-1) ?? '']
        const error = answer?.content['application/json']?.schema?.properties?.['error']
        return (error?.properties?.['code']?.enum ?? []).map(String)
      })
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters: parameters.filter(({ $ref }) => $ref === undefined),
        body: json ?? ('application/octet-stream' in content ? 'bytes' : null),
        codes: new Set(codes),
        leastRole: access['x-holdfast-role'] ?? null,
        leastRoleOfOne: access['x-holdfast-session-role'] ?? null,
      }
    }),
  )
}

/** Makes the values that a schema allows. `textFor` makes the text of a field. */
export type ValueMaker = (shape: Shape, name: string) => unknown

export function createValueMaker(
  { components }: ApiDocument,
  dice: Dice,
  textFor: (name: string, shape: Shape) => string,
): ValueMaker {
  const deepMax = 8
  const make = (shape: Shape, name: string, depth: number): unknown => {
    if (shape.$ref) return make(components.schemas[shape.$ref.split('/').at(-1) ?? ''] ?? {}, name, depth + 1)
    if ('const' in shape) return shape.const
    if (shape.enum) return dice.pick(shape.enum)
    const choices = shape.anyOf ?? shape.oneOf
    if (choices) return make(dice.pick(choices) ?? {}, name, depth + 1)
    const type = typeof shape.type === 'string' ? shape.type : dice.pick(shape.type ?? ['string'])
    if (type === 'object') return makeObject(shape, name, depth)
    if (type === 'array') {
      const length = depth > deepMax ? 0 : dice.below(4)
      return Array.from({ length }, () => make(shape.items ?? {}, name, depth + 1))
    }
    if (type === 'boolean') return dice.chance(1, 2)
    if (type === 'integer') return dice.pick([0, 1, 2, 3, 5, 10, 100_000, 999_999_999_999_999])
    if (type === 'number') return dice.pick([0, 1, 0.5, 10])
    return type === 'null' ? null : textFor(name, shape)
  }
  const makeObject = ({ properties = {}, required = [], additionalProperties }: Shape, name: string, depth: number) => {
    const made: Record<string, unknown> = {}
    for (const [field, shape] of Object.entries(properties))
      if (required.includes(field) || (depth < deepMax && dice.chance(1, 3)))
        made[field] = make(shape, field, depth + 1)
    if (typeof additionalProperties === 'object' && depth < deepMax)
      made[textFor(name, {})] = make(additionalProperties, name, depth + 1)
    return made
  }
  return (shape, name) => make(shape, name, 0)
}
