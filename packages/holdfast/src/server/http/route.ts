import type { LocalSessions } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { explainIssue, fault, locateIssue, ok, parseSessionName, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { AuthenticateDeps, TokenRole } from '../auth/authenticate.ts'
import type { LoginCodes, LoginCookie } from '../auth/login.ts'
import type { ServerAddress } from '../auth/server-address.ts'
import type { Archive } from './archive.ts'
import type { Attachments } from './attachments.ts'
import { readJson } from './request-body.ts'

/** What the routes use. */
export type ServerDeps = AuthenticateDeps & {
  readonly sessions: LocalSessions
  readonly archive: Archive
  readonly attachments: Attachments
  readonly version: string
  readonly now: () => number
  readonly describeApi: () => object
  readonly pageDir: string | null
  readonly address: ServerAddress
  readonly codes: LoginCodes
  readonly cookie: LoginCookie
  readonly heartbeatMs: number
  /** Aborts when the server starts to close, so that streams can send their last frame. */
  readonly closing: AbortSignal
  readonly onProblem: OnProblem
}

/** A request after all access checks, before its input is parsed. */
export type CheckedRequest = {
  readonly request: Request
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly remote: string
  /** Null on an open route. */
  readonly caller: TokenRole | null
}

/** A request as a route handles it. */
export type Call<Query, Body> = CheckedRequest & {
  /** The session named in the path; empty on a route without one. */
  readonly session: string
  readonly input: { readonly query: Query; readonly body: Body }
}

type RouteSpec<Query, Body> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Who may call it. Required, so that a route cannot be open by accident. */
  readonly access: 'open' | 'token' | 'admin'
  readonly summary: string
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** The body is bytes, which `handle` reads itself. */
  readonly takesBytes?: boolean
  /** Replaces `body` in the OpenAPI document. */
  readonly bodyDescribed?: z.ZodType
  readonly answers: { readonly status: number; readonly mediaType: string; readonly schema: z.ZodType | null }
  /** Returns a `Response`, or a value to send as JSON with the status of `answers`. */
  readonly handle: (call: Call<Query, Body>, deps: ServerDeps) => Promise<Result<unknown>>
}

/** One row of the route table. */
export type Route = Pick<RouteSpec<unknown, unknown>, 'method' | 'path' | 'access' | 'summary' | 'answers'> & {
  readonly querySchema: z.ZodType
  readonly bodySchema: z.ZodType | null
  readonly takesBytes: boolean
  readonly answer: (request: CheckedRequest, deps: ServerDeps) => Promise<Result<Response>>
}

/** Builds a route that parses its whole input before `handle` runs. */
export function defineRoute<Query = unknown, Body = unknown>(spec: RouteSpec<Query, Body>): Route {
  const { handle, query: querySchema = z.strictObject({}), body: bodySchema, bodyDescribed, takesBytes, ...rest } = spec

  return {
    ...rest,
    querySchema,
    bodySchema: bodyDescribed ?? bodySchema ?? null,
    takesBytes: takesBytes ?? false,

    async answer(checked, deps) {
      const session = checked.path['id'] ?? ''
      const name = spec.path.includes('/:id') ? parseSessionName(session) : ok(null)
      if (!name.ok) return name
      const query = parse<unknown>(querySchema, checked.query)
      if (!query.ok) return query
      const json = bodySchema ? await readJson(checked.request) : ok(null)
      if (!json.ok) return json
      const body = bodySchema ? parse(bodySchema, json.value) : json
      if (!body.ok) return body
      // The types come from these schemas; without a schema the type is `unknown`.
      const input = { query: query.value as Query, body: body.value as Body }
      const answer = await handle({ ...checked, session, input }, deps)
      if (!answer.ok) return answer
      const { value } = answer
      return ok(value instanceof Response ? value : Response.json(value, { status: spec.answers.status }))
    },
  }
}

/** Parses a value, or returns a fault that names the wrong field and what it should be. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Result<Value> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  const issues = parsed.error.issues.slice(0, 10).map(locateIssue)
  return refuse(fault('bad_request', explainIssue(parsed.error), { issues }))
}

/** Describes the usual answer of a route: 200 with JSON. */
export const answersJson = (schema: z.ZodType, status = 200) => ({ status, mediaType: 'application/json', schema })

/** A number in a URL. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number)

/** A page size in a URL. */
export const pageLimit = (max: number) => wholeNumber.pipe(z.int().min(1).max(max)).optional()

/** A boolean in a URL. */
export const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .optional()
