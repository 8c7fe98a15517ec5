import { isAbsolute } from 'node:path'
import type { LocalSessions } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import {
  clip,
  escapeLine,
  explainIssue,
  type Fault,
  fault,
  type HookLister,
  locateIssue,
  noWorkdir,
  type OfferTrust,
  ok,
  type PermissionRules,
  parseSessionName,
  type Result,
  refuse,
  type Stats,
  type StatsOptions,
  type ToolLister,
} from '@holdfast/protocol'
import { z } from 'zod'
import type { AuthenticateDeps, Caller } from '../auth/access.ts'
import type { DeclaredAccess } from '../auth/authorize.ts'
import type { LoginCodes, LoginCookie } from '../auth/login.ts'
import type { Proxies } from '../auth/proxies.ts'
import { type RouteName, routeAccess } from '../auth/roles.ts'
import type { ServerAddress } from '../auth/server-address.ts'
import type { Attachments } from './attachments.ts'
import type { Outbox } from './outbox.ts'
import { type ByteBudget, freeBodyBytes, readJson } from './request-body.ts'
import type { Transfer } from './transfer.ts'

/** The dependencies of the routes. */
export type ServerDeps = AuthenticateDeps & {
  readonly sessions: LocalSessions
  readonly transfer: Transfer
  /** The directory of uploads that are being imported. */
  readonly spoolDir: string
  /** Counts what the store holds. */
  readonly stats: (options: StatsOptions) => Promise<Result<Stats>>
  /** The permission rules of the user. */
  readonly permissions: PermissionRules
  readonly trust: OfferTrust
  readonly hooks: HookLister
  readonly tools: ToolLister
  readonly attachments: Attachments
  readonly outbox: Outbox
  /** What uploads hold in memory. */
  readonly uploads: ByteBudget
  /** What JSON bodies hold in memory. */
  readonly bodies: ByteBudget
  readonly version: string
  /** How many copies were saved when another program changed the files of the store: records may be missing. */
  readonly savedCopies: number
  readonly now: () => number
  readonly describeApi: () => object
  /** The folder of the built page; null serves no page. */
  readonly pageDir: string | null
  readonly address: ServerAddress
  readonly proxies: Proxies
  readonly links: Links
  readonly codes: LoginCodes
  readonly cookie: LoginCookie
  readonly heartbeatMs: number
  /** Aborts when the server starts to close, so that streams can send their last frame. */
  readonly closing: AbortSignal
  /** Receives unexpected errors. The client gets only the id that `where` names too. */
  readonly onProblem: OnProblem
}

/** The addresses that the server gives to people. */
export type Links = {
  /** Returns a link that logs a browser in, and the same for another device on the network, if it can reach us. */
  login(): { readonly link: string; readonly networkLink: string | null }
  /** Returns the link that shows a session to anyone who has it. */
  share(secret: string): string
}

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

export type Call<Query, Body> = CheckedRequest & {
  /** The session named in the path; empty on a route without one. */
  readonly session: string
  readonly input: { readonly query: Query; readonly body: Body }
}

type Method = 'GET' | 'POST' | 'DELETE'

type RouteSpec<Query, Body> = {
  /** A row of the table of roles, so that a route cannot be open by accident. */
  readonly on: RouteName
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
export type Route = Pick<RouteSpec<unknown, unknown>, 'summary' | 'answers'> & {
  readonly access: DeclaredAccess
  readonly method: Method
  readonly path: string
  readonly querySchema: z.ZodType
  readonly bodySchema: z.ZodType | null
  readonly takesBytes: boolean
  readonly answer: (request: CheckedRequest, deps: ServerDeps) => Promise<Result<Response>>
}

/** Builds a route that parses its whole input before `handle` runs. */
export function defineRoute<Query = unknown, Body = unknown>(spec: RouteSpec<Query, Body>): Route {
  const { on, handle, query: querySchema = z.strictObject({}), body: bodySchema, bodyDescribed, ...rest } = spec
  const [method, path] = on.split(' ') as [Method, string] // as the type of `on` says

  return {
    takesBytes: false,
    ...rest,
    access: routeAccess[on],
    method,
    path,
    querySchema,
    bodySchema: bodyDescribed ?? bodySchema ?? null,

    async answer(checked, deps) {
      const session = checked.path['id'] ?? ''
      const name = path.includes('/:id') ? parseSessionName(session) : ok(null)
      if (!name.ok) return name
      const query = parse<unknown>(querySchema, checked.query)
      if (!query.ok) return query
      const held = deps.bodies.hold(freeBodyBytes)
      try {
        const json = bodySchema ? await readJson(checked.request, held) : ok(null)
        const body = bodySchema && json.ok ? parse(bodySchema, json.value) : json
        if (!body.ok) return body
        // The types come from these schemas; without a schema the type is `unknown`.
        const input = { query: query.value as Query, body: body.value as Body }
        const relative = findRelativeFolder(input.query) ?? findRelativeFolder(input.body)
        if (relative) return refuse(relative)
        const answer = await handle({ ...checked, session, input }, deps)
        if (!answer.ok) return answer
        const { value } = answer
        return value instanceof Response ? ok(value) : encodeAnswer(value, spec.answers.status)
      } finally {
        held.release()
      }
    },
  }
}

/** Returns why the folder of a request cannot be used: a relative one would mean a folder of the server, not of the caller. */
function findRelativeFolder(input: unknown): Fault | null {
  if (typeof input !== 'object' || input === null) return null
  for (const name of ['workdir', 'workspace']) {
    const folder: unknown = Reflect.get(input, name)
    if (typeof folder !== 'string' || folder === noWorkdir || isAbsolute(folder)) continue
    const message = `The ${name} ${escapeLine(clip(folder, 200))} is relative. Over HTTP, give the absolute path of a folder on the server.`
    return fault('bad_workdir', message, { [name]: folder })
  }
  return null
}

/** Encodes an answer. Refused: too_large, for one that no string can hold. */
function encodeAnswer(value: unknown, status: number): Result<Response> {
  try {
    return ok(Response.json(value, { status }))
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
export const answersJson = (schema: z.ZodType, status = 200) => ({ status, mediaType: 'application/json', schema })

export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number)

export const pageLimit = (max: number) => wholeNumber.pipe(z.int().min(1).max(max)).optional()

export const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .optional()
