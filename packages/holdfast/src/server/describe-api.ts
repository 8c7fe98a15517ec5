import { FaultSchema } from '@holdfast/protocol'
import { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { Route } from './http/route.ts'

const methodNames = { GET: 'get', POST: 'post', DELETE: 'delete' } as const
const bytesSchema = { type: 'string', format: 'binary' } as const
const ErrorAnswer = z.object({ error: FaultSchema })

/** The OpenAPI description, made from the schemas the routes parse with. */
export function describeApi(routes: readonly Route[], version: string) {
  const api = new OpenAPIHono()
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  for (const route of routes) {
    const { method, path, access, summary, querySchema, bodySchema, takesBytes, answers } = route
    const names = [...path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? [])
    const content = answers.schema && { [answers.mediaType]: { schema: answers.schema } }
    api.openAPIRegistry.registerPath({
      method: methodNames[method],
      path: path.replaceAll(/:(\w+)/g, '{$1}'),
      summary,
      security: access === 'open' ? [] : [{ token: [] }],
      request: {
        ...(names.length > 0 && { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
        ...(querySchema instanceof z.ZodObject && { query: querySchema }),
        ...(takesBytes && {
          body: { required: true, content: { 'application/octet-stream': { schema: bytesSchema } } },
        }),
        ...(bodySchema && { body: { required: true, content: { 'application/json': { schema: bodySchema } } } }),
      },
      responses: {
        [answers.status]: { description: summary, ...(content && { content }) },
        default: { description: 'A fault', content: { 'application/json': { schema: ErrorAnswer } } },
      },
    })
  }
  return api.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Holdfast', version } })
}
