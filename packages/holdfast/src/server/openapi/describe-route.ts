import { BlobHash, ClientId, type FaultCode, faultStatus } from '@holdfast/protocol'
import { z } from 'zod'
import { digits, type Route } from '../define/route.ts'
import type { ApiSchema, createComponents } from './components.ts'

type Describe = ReturnType<typeof createComponents>['describe']

const bytes = { type: 'string', format: 'binary' } as const

const name = z.string().min(1)

/** What the parts of paths are, and what they mean. */
const pathParameters: Readonly<Record<string, { readonly schema: z.ZodType; readonly description: string }>> = {
  id: { schema: name, description: 'The session: its id, a unique prefix of it, or its handle' },
  attachment: { schema: ClientId, description: 'The name of an attached client' },
  hash: { schema: BlobHash, description: 'The SHA-256 of the bytes, in hex' },
  token: { schema: name, description: 'The id or the name of a token' },
  rule: { schema: name, description: 'The id of a permission rule' },
  stream: { schema: name, description: 'The id of a stream, as its first event tells it' },
}

/** Describes one route. */
export function describeRoute(route: Route, describe: Describe): object {
  const { method, path, access, summary, bodySchema, takesBytes } = route
  const body = takesBytes
    ? { 'application/octet-stream': { schema: bytes } }
    : bodySchema && { 'application/json': { schema: describe(bodySchema, 'input') } }
  return {
    operationId: operationIdOf(method, path),
    summary,
    tags: [tagOf(path)],
    ...describeAccess(access),
    parameters: describeParameters(route, describe),
    ...(body && { requestBody: { required: true, content: body } }),
    responses: { ...describeAnswers(route, describe), ...referToFaults(route.faults) },
  }
}

/** Describes who may call a route: the least role, and the least role of a token for one session. */
const describeAccess = ({ role, bound }: Route['access']) =>
  role === 'open'
    ? { security: [] }
    : {
        security: [{ token: [] }, { login: [] }],
        'x-holdfast-role': role,
        ...(bound && { 'x-holdfast-session-role': bound }),
      }

/** Returns a unique name, such as `postSessionAttachmentClaim`: a parameter makes the word before it singular. */
export function operationIdOf(method: string, path: string): string {
  const words = path
    .replace(/^\/v1/, '')
    .replaceAll(/s\/:\w+/g, '')
    .split(/\W+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('')
}

const tagOf = (path: string): string => path.split('/').find((part) => part !== '' && part !== 'v1') ?? 'server'

function describeParameters({ path, querySchema, headerSchema }: Route, describe: Describe) {
  const ofObject = (schema: z.ZodType, place: 'query' | 'header') => {
    const { properties = {}, required = [] } = describe(schema, 'input')
    const numbers = describe(schema, 'output').properties ?? {}
    return Object.entries(properties).map(([field, described]) => ({
      name: field,
      in: place,
      required: required.includes(field),
      // A query has only text: a client writes a number as one, and generators make it a number of their language.
      schema: isDigits(described) ? numbers[field] : described,
    }))
  }
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, part = '']) => {
    const { schema, description } = pathParameters[part] ?? { schema: name, description: part }
    return { name: part, in: 'path', required: true, description, schema: describe(schema, 'input') }
  })
  return [...inPath, ...ofObject(querySchema, 'query'), ...ofObject(headerSchema, 'header'), requestIdParameter]
}

const isDigits = (described: unknown): boolean =>
  typeof described === 'object' && described !== null && 'pattern' in described && described.pattern === digits.source

const requestIdParameter = { $ref: '#/components/parameters/RequestId' }
const requestId = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

function describeAnswers({ answers, summary }: Route, describe: Describe) {
  const { status, mediaType, schema, otherTypes = [], events, headers = {}, mayBeUnchanged } = answers
  const ownHeaders = Object.entries(headers).map(([header, description]) => [
    header,
    { description, schema: { type: 'string' } },
  ])
  const content = (type: string) => [
    type,
    {
      schema: type === 'application/octet-stream' ? bytes : schema && describe(schema, 'output'),
      ...(events && { 'x-holdfast-event': describe(events, 'output') }),
    },
  ]
  const all = { ...requestId, ...Object.fromEntries(ownHeaders) }
  return {
    [status]: {
      description: summary,
      headers: all,
      ...(schema && { content: Object.fromEntries([mediaType, ...otherTypes].map(content)) }),
    },
    ...(mayBeUnchanged && { 304: { description: 'Unchanged since the answer with this ETag', headers: all } }),
  }
}

/** Groups the codes of a route by their status. */
const byStatus = (codes: ReadonlySet<FaultCode>) =>
  [...Map.groupBy([...codes].sort(), (code) => faultStatus[code])].sort(([one], [other]) => one - other)

/** Routes that refuse with the same codes share an answer, which is named by them. */
const faultAnswerName = (codes: readonly FaultCode[]): string => codes.join('.')

const referToFaults = (codes: ReadonlySet<FaultCode>) =>
  Object.fromEntries(
    byStatus(codes).map(([status, some]) => [status, { $ref: `#/components/responses/${faultAnswerName(some)}` }]),
  )

/** Describes the refusals of all routes. */
export function describeFaults(routes: readonly Pick<Route, 'faults'>[]): object {
  const answers = routes.flatMap(({ faults }) =>
    byStatus(faults).map(([status, codes]) => [
      faultAnswerName(codes),
      {
        description: `Refused: ${codes.join(', ')}`,
        headers: { ...requestId, ...(mayWait(status) && retryAfter) },
        content: { 'application/json': { schema: faultSchema(codes) } },
      },
    ]),
  )
  return Object.fromEntries(answers)
}

const mayWait = (status: number): boolean => status === 429 || status === 503
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }

/** Returns the schema of an answer with one of these codes. */
const faultSchema = (codes: readonly FaultCode[]): ApiSchema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: [...codes] },
        message: { type: 'string' },
        details: { type: 'object', additionalProperties: true },
        requestId: { type: 'string' },
      },
      required: ['code', 'message', 'requestId'],
    },
  },
  required: ['error'],
})
