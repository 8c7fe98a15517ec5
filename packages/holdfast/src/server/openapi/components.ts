import * as protocol from '@holdfast/protocol'
import { invariant } from '@holdfast/protocol'
import { z } from 'zod'

export type ApiSchema = z.core.JSONSchema.BaseSchema

/** Whether a schema describes what a client sends, or what it gets. */
export type ApiSide = 'input' | 'output'

/** The names under which the document describes schemas: those of the protocol. */
const schemaNames = z.registry<{ readonly id: string }>()
for (const [name, value] of Object.entries(protocol))
  if (value instanceof z.ZodType) schemaNames.add(value, { id: name })

/** Gives a schema a name in the document. */
export function nameSchema<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  schemaNames.add(schema, { id })
  return schema
}

/** The only recursive schema without a name is that of any JSON. Generators cannot express that it refers to itself. */
const nameOf = (id: string): string => (id.startsWith('__') ? anyJson : id)
const anyJson = 'Json'
const anyJsonSchema = JSON.stringify({ description: 'Any JSON value' })

/** Returns a schema as text, with references that name its direction. */
const move = (part: ApiSchema, io: ApiSide): string =>
  JSON.stringify(part).replaceAll(/"#\/\$defs\/(\w+)"/g, (_, id) => `${placeOf(io)}${nameOf(id)}"`)

const placeOf = (direction: ApiSide) => `"#/${direction}/`

/**
 * Collects the schemas of the document, each once under its name. `describe` returns a schema with references that only
 * `link` makes valid: it knows which names mean the same in both directions.
 */
export function createComponents() {
  const found = { input: new Map<string, string>(), output: new Map<string, string>() }

  const describe = (schema: z.ZodType, io: ApiSide): ApiSchema => {
    const options = { io, unrepresentable: 'any', metadata: schemaNames, override: allowNewFields } as const
    const { $schema, $defs = {}, ...root } = z.toJSONSchema(schema, options)
    for (const [name, part] of Object.entries($defs)) {
      const text = nameOf(name) === anyJson ? anyJsonSchema : move(part, io)
      const known = found[io].get(nameOf(name)) ?? text
      invariant(known === text, `the document has one schema ${nameOf(name)}`)
      found[io].set(nameOf(name), text)
    }
    return JSON.parse(move(root, io))
  }

  return {
    describe,

    /** Returns the document with all schemas and with references to them. */
    link<Document extends object>(document: Document): Document & { readonly components: object } {
      const differing = findDiffering(found)
      const linkedName = (direction: string, name: string) =>
        direction === 'input' && differing.has(name) ? `${name}Input` : name
      const schemas: Record<string, unknown> = {}
      for (const direction of ['output', 'input'] as const)
        for (const [name, text] of found[direction]) schemas[linkedName(direction, name)] ??= JSON.parse(text)
      const names = Object.keys(schemas).sort()
      const text = JSON.stringify({
        ...document,
        components: {
          ...('components' in document && typeof document.components === 'object' ? document.components : {}),
          schemas: Object.fromEntries(names.map((name) => [name, schemas[name]])),
        },
      })
      const linked = text.replaceAll(
        /"#\/(input|output)\/(\w+)"/g,
        (_, direction, name) => `"#/components/schemas/${linkedName(direction, name)}"`,
      )
      return JSON.parse(linked)
    },
  }
}

/** Returns the names that mean one thing in what a client sends and another in what it gets. */
function findDiffering(found: { readonly [Key in ApiSide]: ReadonlyMap<string, string> }): ReadonlySet<string> {
  const differing = new Set<string>()
  for (const [name, text] of found.input) {
    const output = found.output.get(name)
    if (output !== undefined && output !== text.replaceAll(placeOf('input'), placeOf('output'))) differing.add(name)
  }
  // A schema that refers to one of them differs too.
  for (let before = -1; before < differing.size; ) {
    before = differing.size
    for (const [name, text] of found.input)
      if (found.output.has(name) && [...differing].some((other) => text.includes(`${placeOf('input')}${other}"`)))
        differing.add(name)
  }
  return differing
}

/** Later versions add fields to answers: only an object that refuses others is described as closed. */
function allowNewFields({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: ApiSchema }): void {
  const { def } = zodSchema._zod
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties
}
