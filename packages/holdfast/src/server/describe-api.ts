import { FaultSchema } from '@holdfast/protocol'
import { z } from 'zod'
import type { Route } from './http/route.ts'

const errorSchema = z.object({ error: FaultSchema })
const bytesSchema = { type: 'string', format: 'binary' } as const

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Describes who may call a route: the least role, and the least role of a token for one session. */
const describeAccess = ({ role, bound }: Route['access']) =>
  role === 'open'
    ? { security: [] }
    : { security: [{ token: [] }], 'x-holdfast-role': role, ...(bound && { 'x-holdfast-session-role': bound }) }

/** Builds the OpenAPI document from the schemas that the routes parse with. */
export function describeApi(routes: readonly Route[], version: string) {
  const schemas: { [name: string]: JsonSchema } = {}
  const paths: { [path: string]: { [method: string]: object } } = {}

  /** JSON Schema puts recursive parts under `$defs`; OpenAPI finds them only among its components. */
  const describe = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const { $schema, $defs = {}, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
    const prefix = `part${Object.keys(schemas).length}`
    const move = (part: JsonSchema): JsonSchema =>
      JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', `"#/components/schemas/${prefix}`))
    for (const [name, part] of Object.entries($defs)) schemas[`${prefix}${name}`] = move(part)
    return move(described)
  }

  for (const { method, path, access, summary, querySchema, bodySchema, takesBytes, answers } of routes) {
    const body = takesBytes
      ? { 'application/octet-stream': { schema: bytesSchema } }
      : bodySchema && { 'application/json': { schema: describe(bodySchema, 'input') } }
    const { properties = {}, required = [] } = describe(querySchema, 'input')
    const operation = {
      summary,
      ...describeAccess(access),
      parameters: [
        ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
          ...{ name, in: 'path', required: true, schema: { type: 'string' } },
        })),
        ...Object.entries(properties).map(([name, schema]) => ({
          ...{ name, in: 'query', required: required.includes(name), schema },
        })),
      ],
      ...(body && { requestBody: { required: true, content: body } }),
      responses: {
        [answers.status]: {
          description: summary,
          ...(answers.schema && { content: { [answers.mediaType]: { schema: describe(answers.schema, 'output') } } }),
        },
        default: {
          description: 'A fault',
          content: { 'application/json': { schema: describe(errorSchema, 'output') } },
        },
      },
    }
    const key = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[key] = { ...paths[key], [method.toLowerCase()]: operation }
  }
  const securitySchemes = { token: { type: 'http', scheme: 'bearer' } }
  return { openapi: '3.1.0', info: { title: 'Holdfast', version }, paths, components: { securitySchemes, schemas } }
}
