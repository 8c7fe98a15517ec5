import { ownSlice } from '@holdfast/core/ports'
import type { Route } from '../define/route.ts'
import { createComponents } from './components.ts'
import { describeFaults, describeRoute } from './describe-route.ts'

const description =
  'Sessions of agents: start them, send them commands, follow what happens, read what happened. ' +
  'docs/http.md explains the routes, docs/errors.md the codes.'

/** Builds the OpenAPI document from the schemas that the routes parse with. Other work comes between two routes. */
export async function describeApi(
  routes: readonly Route[],
  version: string,
  slice: () => Promise<void> = ownSlice,
): Promise<object> {
  const { describe, link } = createComponents()
  const paths: { [path: string]: { [method: string]: object } } = {}
  for (const route of routes) {
    const key = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[key] = { ...paths[key], [route.method.toLowerCase()]: describeRoute(route, describe) }
    await slice()
  }
  return link({
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that sent this document' }],
    paths,
    components: {
      responses: describeFaults(routes),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `holdfast token create`' },
        login: {
          type: 'apiKey',
          in: 'cookie',
          name: 'holdfast_4820',
          description: 'The cookie of a login. Its name ends in the port of the server.',
        },
      },
      parameters: {
        RequestId: {
          name: 'X-Request-Id',
          in: 'header',
          required: false,
          description: 'Names the request in the answer and in the log of the server, which creates an id otherwise',
          schema: { type: 'string', pattern: '^[A-Za-z0-9][\\w.:@=+-]{0,127}$' },
        },
      },
      headers: {
        RequestId: { description: 'The id of the request', schema: { type: 'string' } },
        RetryAfter: { description: 'Seconds to wait before the next try', schema: { type: 'string' } },
      },
    },
  })
}
