import { explainIssue, fault, locateIssue, ok, parseSessionName, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { Role } from '../auth/token.ts'
import { readJson } from './request-body.ts'
import type { ServerDeps } from './server-deps.ts'

/** A request as it arrives at a route: past every check, not yet understood. */
export type Exchange = {
  readonly request: Request
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly remote: string
  /** What the caller may do; null on an open route, where nobody asked. */
  readonly caller: Role | null
}

/** A request as a route handles it. */
export type Call<Query, Body> = Exchange & {
  /** The session named in the path; empty on a route that names none. */
  readonly session: string
  readonly input: { readonly query: Query; readonly body: Body }
}

type Answers = { readonly status: number; readonly mediaType: string; readonly schema: z.ZodType | null }

type RouteSpec<Query, Body> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Who may call it. There is no default: a route that forgets to say does not compile. */
  readonly access: 'open' | 'token' | 'admin'
  readonly summary: string
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Its body is bytes, which `handle` reads itself. */
  readonly takesBytes?: boolean
  /** What is written in the API's description when it is more than `body` says. */
  readonly bodyDescribed?: z.ZodType
  readonly answers: Answers
  readonly handle: (call: Call<Query, Body>, parts: ServerDeps) => Promise<Result<Response>>
}

/** One row of the route table. */
export type Route = Pick<RouteSpec<unknown, unknown>, 'method' | 'path' | 'access' | 'summary' | 'answers'> & {
  readonly querySchema: z.ZodType
  readonly bodySchema: z.ZodType | null
  readonly takesBytes: boolean
  readonly answer: (exchange: Exchange, parts: ServerDeps) => Promise<Result<Response>>
}

/** Parses once, at the door; `handle` sees only what passed. */
export function defineRoute<Query = unknown, Body = unknown>(spec: RouteSpec<Query, Body>): Route {
  const { method, path, access, summary, takesBytes = false, answers, handle } = spec
  // Without a schema there is nothing to parse, and the types say `unknown`: no route can use what it did not declare.
  const querySchema: z.ZodType<unknown> = spec.query ?? z.strictObject({})
  const bodySchema: z.ZodType<unknown> | null = spec.body ?? null

  return {
    method,
    path,
    access,
    summary,
    answers,
    querySchema,
    bodySchema: spec.bodyDescribed ?? bodySchema,
    takesBytes,

    async answer(exchange, parts) {
      const session = exchange.path['id'] ?? ''
      const name = path.includes('/:id') ? parseSessionName(session) : ok(null)
      if (!name.ok) return name
      const query = parse(querySchema, exchange.query)
      if (!query.ok) return query
      const json = bodySchema ? await readJson(exchange.request) : ok(null)
      if (!json.ok) return json
      const body = bodySchema ? parse(bodySchema, json.value) : json
      if (!body.ok) return body
      // The schemas that made these values are the ones their types come from.
      const input = { query: query.value as Query, body: body.value as Body }
      return handle({ ...exchange, session, input }, parts)
    },
  }
}

/** The value a schema makes of what was sent, or a fault that names the field and what it should be. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Result<Value> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  const issues = parsed.error.issues.slice(0, 10).map(locateIssue)
  return refuse(fault('bad_request', explainIssue(parsed.error), { issues }))
}

/** A number as a URL carries it. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number)

/** A yes or no as a URL carries it. */
export const flag = z.enum(['true', 'false']).transform((word) => word === 'true')
