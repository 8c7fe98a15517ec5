import { isAbsolute } from 'node:path'
import {
  clip,
  escapeLine,
  explainIssue,
  type Fault,
  type FaultCode,
  fault,
  limits,
  locateIssue,
  noWorkdir,
  ok,
  parseSessionName,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { z } from 'zod'
import type { Caller } from '../auth/access.ts'
import type { DeclaredAccess } from '../auth/authorize.ts'
import { type RouteName, routeAccess } from '../auth/roles.ts'
import type { Pace } from '../bodies/paced-body.ts'
import { freeBodyBytes, type HeldBytes, readBytes, readJson } from '../bodies/request-body.ts'
import { declareFaults } from './route-faults.ts'
import type { ServerDeps } from './server-deps.ts'

/** A request after all access checks, before its input is parsed. */
type CheckedRequest = {
  readonly request: Request
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly remote: string
  /** Whether the client speaks HTTPS with a proxy in front of us. */
  readonly isSecure: boolean
  /** Null on an open route. */
  readonly caller: Caller | null
  /** Aborts when the token of the caller ends; never for one without an end. */
  readonly ended: AbortSignal
}

export type Call<Query, Body, Headers = unknown> = CheckedRequest & {
  /** The session named in the path; empty on a route without one. */
  readonly session: string
  readonly input: { readonly query: Query; readonly body: Body; readonly headers: Headers }
}

type Method = 'GET' | 'POST' | 'DELETE'

/** The answer of a route that does what it was asked for. */
export type DeclaredAnswer = {
  readonly status: number
  readonly mediaType: string
  /** The JSON, or the text; null for an answer without a body. */
  readonly schema: z.ZodType | null
  /** The same answer in other media types, by the choice of the client. */
  readonly otherTypes?: readonly string[]
  /** What each event of a stream is. */
  readonly events?: z.ZodType
  /** Headers that only this answer has, each with its meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the answer may be 304 without a body. */
  readonly mayBeUnchanged?: boolean
}

type RouteSpec<Query, Body, Headers> = {
  /** A row of the table of roles, so that a route cannot be open by accident. */
  readonly on: RouteName
  readonly summary: string
  readonly query?: z.ZodType<Query>
  /** Headers by their names in lower case. */
  readonly headers?: z.ZodObject & z.ZodType<Headers>
  readonly body?: z.ZodType<Body>
  /** The body is bytes, which `handle` reads itself. */
  readonly takesBytes?: boolean
  /** HEAD is answered too, for programs that watch the server. */
  readonly answersHead?: boolean
  /** Replaces `body` in the OpenAPI document. */
  readonly bodyDescribed?: z.ZodType
  readonly answers: DeclaredAnswer
  /** The codes that this route refuses with, besides those of every route of its kind. */
  readonly refuses?: readonly FaultCode[]
  /** Returns a `Response`, or a value to send as JSON with the status of `answers`. */
  readonly handle: (call: Call<Query, Body, Headers>, deps: ServerDeps) => Promise<Result<unknown>>
}

/** One row of the route table. */
export type Route = {
  readonly summary: string
  readonly answers: DeclaredAnswer
  readonly access: DeclaredAccess
  readonly method: Method
  readonly path: string
  readonly querySchema: z.ZodType
  readonly headerSchema: z.ZodObject
  readonly bodySchema: z.ZodType | null
  readonly takesBytes: boolean
  readonly answersHead: boolean
  /** Every code that it may refuse with. */
  readonly faults: ReadonlySet<FaultCode>
  readonly answer: (request: CheckedRequest, deps: ServerDeps) => Promise<Result<Response>>
}

const noHeaders = z.object({})

/** Builds a route that parses its whole input before `handle` runs. */
export function defineRoute<Query = unknown, Body = unknown, Headers = unknown>(
  spec: RouteSpec<Query, Body, Headers>,
): Route {
  const { on, summary, answers, handle, query: querySchema = z.strictObject({}), body: bodySchema } = spec
  const {
    headers: headerSchema = noHeaders,
    takesBytes = false,
    bodyDescribed = bodySchema ?? null,
    answersHead = false,
  } = spec
  const [method, path] = on.split(' ') as [Method, string] // as the type of `on` says
  const access = routeAccess[on]

  return {
    summary,
    answers,
    access,
    method,
    path,
    querySchema,
    headerSchema,
    takesBytes,
    answersHead,
    bodySchema: bodyDescribed,
    faults: declareFaults(
      { access, path, answers, querySchema, takesBytes, takesJson: bodySchema !== undefined },
      spec.refuses,
    ),

    async answer(checked, deps) {
      const session = checked.path['id'] ?? ''
      const name = path.includes('/:id') ? parseSessionName(session) : ok(null)
      if (!name.ok) return name
      const query = parse<unknown>(querySchema, checked.query)
      if (!query.ok) return query
      const headers = parse<unknown>(headerSchema, pickHeaders(checked.request, headerSchema))
      if (!headers.ok) return headers
      const held = deps.bodies.hold(freeBodyBytes)
      try {
        const json = bodySchema
          ? await readJson(checked.request, held, deps.pace)
          : await skipBody(checked.request, takesBytes, held, deps.pace)
        const body = bodySchema && json.ok ? parse(bodySchema, json.value) : json
        if (!body.ok) return body
        // The types come from these schemas; without a schema the type is `unknown`.
        const input = { query: query.value as Query, body: body.value as Body, headers: headers.value as Headers }
        const badFolder = findBadFolder(input.query) ?? findBadFolder(input.body)
        if (badFolder) return refuse(badFolder)
        const answer = await handle({ ...checked, session, input }, deps)
        if (!answer.ok) return answer
        const { value } = answer
        return value instanceof Response ? ok(value) : encodeAnswer(value, answers.status)
      } finally {
        held.release()
      }
    },
  }
}

/** Waits for the end of a body that nothing reads: a request that is broken in the middle must do nothing. */
async function skipBody(request: Request, takesBytes: boolean, held: HeldBytes, pace: Pace): Promise<Result<null>> {
  if (takesBytes || request.body === null) return ok(null)
  const skipped = await readBytes(request, limits.requestBodyBytesMax, held, pace)
  return skipped.ok ? ok(null) : skipped
}

/** Returns the headers that a schema names and the request has. */
function pickHeaders({ headers }: Request, { shape }: z.ZodObject): Readonly<Record<string, string>> {
  const picked: Record<string, string> = {}
  for (const name of Object.keys(shape)) {
    const value = headers.get(name)
    if (value !== null) picked[name] = value
  }
  return picked
}

/**
 * Returns why the folder of a request cannot be used: a relative one would mean a folder of the server, not of the caller, and
 * no folder has a NUL character in its name.
 */
function findBadFolder(input: unknown): Fault | null {
  if (typeof input !== 'object' || input === null) return null
  for (const name of ['workdir', 'workspace']) {
    const folder: unknown = Reflect.get(input, name)
    if (typeof folder !== 'string' || folder === noWorkdir) continue
    const shown = `The ${name} ${escapeLine(clip(folder, 200))}`
    if (folder.includes('\0')) return fault('bad_workdir', `${shown} has a NUL character. No path has one.`)
    if (isAbsolute(folder)) continue
    const message = `${shown} is relative. Over HTTP, give the absolute path of a folder on the server.`
    return fault('bad_workdir', message, { [name]: folder })
  }
  return null
}

/** Encodes an answer. Refused: too_large, for one that no string can hold. */
function encodeAnswer(value: unknown, status: number): Result<Response> {
  try {
    const text = JSON.stringify(value)
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    return ok(new Response(text, { status, headers }))
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    return refuse(fault('too_large', 'The answer is too large to send. Ask for a smaller part.'))
  }
}

/** Parses a value, or returns a fault that names the wrong field and what it should be. */
export function parse<Value>(schema: z.ZodType<Value>, value: unknown): Result<Value> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  const issues = parsed.error.issues.slice(0, 10).map(locateIssue)
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return refuse(fault('bad_request', explainIssue(parsed.error, known), { issues }))
}

/** Describes the usual answer of a route: 200 with JSON. */
export const answersJson = (schema: z.ZodType, status = 200): DeclaredAnswer => ({
  status,
  mediaType: 'application/json',
  schema,
})

/** The form of a whole number in a query or a header. The OpenAPI document describes it as the number that it means. */
export const digits = /^\d{1,15}$/

export const wholeNumber = z.string().regex(digits, 'a whole number').transform(Number).pipe(z.int().min(0))

export const pageLimit = (max: number) => wholeNumber.pipe(z.int().min(1).max(max)).optional()

export const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .optional()
