import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Fault, fault, faultStatus, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { withBearer } from '../nodes/carried-bearer.ts'
import type { Logger } from '../observe/logging/logger.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import { authenticate, type Caller, watchCaller } from './auth/access.ts'
import { type DeclaredAccess, findRefusal } from './auth/authorize.ts'
import { faultFor } from './auth/public-storage-error.ts'
import { compressAnswers } from './bodies/compress-answers.ts'
import type { Route } from './define/route.ts'
import type { ServerDeps } from './define/server-deps.ts'
import { answerPageFile } from './page-files.ts'
import { withinSession } from './within-session.ts'
import { withinTenant } from './within-tenant.ts'

type Env = { Bindings: HttpBindings }

/** Puts the access checks in front of the routes: the Origin, then the token, then its role. */
export function createApp(routes: readonly Route[], deps: ServerDeps): Hono<Env> {
  const app = new Hono<Env>()
  const noSuchRoute = fault('not_found', 'No such route. /v1/openapi.json lists all routes.')

  app.use(compressAnswers((context) => peerOf(deps, context).remote))
  app.use(async (context, next) => {
    const refusal = deps.address.checkOrigin(context.req.raw.headers.get('origin'))
    if (refusal) context.res = answerFault(refusal, requestIdOf(context))
    else await next()
    const { headers } = context.res
    for (const [name, value] of answerHeaders) if (!headers.has(name)) headers.set(name, value)
    if (deps.closing.aborted) headers.set('connection', 'close')
  })

  for (const route of routes) {
    app.on(route.method, route.path, async (context, next) => {
      const { req, env } = context
      // Hono answers HEAD with GET, and HEAD must not redeem a login code.
      if (req.method !== route.method && !route.answersHead) return next()
      const name = `${route.method} ${route.path}`
      const caller = await checkAccess(deps, context, route.access, name)
      if (!caller.ok) return answerFault(caller.fault, requestIdOf(context))
      const call = {
        request: req.raw,
        path: req.param(),
        query: req.query(),
        ...peerOf(deps, context),
        caller: caller.value,
        ended: cutWithCaller(deps, caller.value, env.outgoing),
      }
      // The owner of a session checks the token again. It knows only those of the store.
      const bearer = caller.value?.token ? req.raw.headers.get('authorization') : null
      const answer = await withBearer(bearer, () => route.answer(call, depsFor(caller.value, deps)))
      if (answer.ok) return answer.value
      const shown = faultFor(caller.value, answer.fault)
      const { code, message, details } = shown
      const id = requestIdOf(context)
      if (!route.faults.has(code))
        deps.onProblem({ where: `${name} (${id})`, cause: new Error(`${undeclared} ${code}`) })
      return answerFault(code === 'internal' ? fault(code, message, { ...details, id }) : shown, id)
    })
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.flatMap((route) => (route.path === path ? [route.method] : [])).join(', ')
    app.all(path, async (context) => {
      const caller = await checkAccess(deps, context, anyToken, 'Another method')
      const requestId = requestIdOf(context)
      if (!caller.ok) return answerFault(caller.fault, requestId)
      const error = fault('bad_request', `This route accepts only ${allow}.`)
      return Response.json({ error: { ...error, requestId } }, { status: 405, headers: { allow } })
    })
  }
  app.all('/v1/*', async (context) => {
    const caller = await checkAccess(deps, context, anyToken, 'Another route')
    return answerFault(caller.ok ? noSuchRoute : caller.fault, requestIdOf(context))
  })
  app.get('*', async (context) => {
    const file = await answerPageFile(deps.pageDir, new URL(context.req.url).pathname)
    return file ?? answerFault(fault('not_found', 'No such file.'), requestIdOf(context))
  })
  app.notFound((context) => answerFault(noSuchRoute, requestIdOf(context)))
  app.onError((error, context) => {
    const expected = error instanceof HoldfastError && error.code !== 'internal' ? error.toFault() : null
    const id = requestIdOf(context)
    if (expected && faultStatus[expected.code] < 500) return answerFault(expected, id)
    // The path without its query: a query may hold a login code.
    deps.onProblem({ where: `${context.req.method} ${context.req.path} (${id})`, cause: error })
    return answerFault(
      expected
        ? faultFor(null, expected)
        : fault('internal', `Internal error. Search the server log for ${id}.`, { id }),
      id,
    )
  })
  return app
}

const anyToken: DeclaredAccess = { role: 'viewer', bound: 'viewer' }

/** Returns the dependencies as the caller may use them: within its tenant and its session. */
function depsFor(caller: Caller | null, deps: ServerDeps): ServerDeps {
  const { tenant = null, session = null } = caller ?? {}
  const own = tenant === null || !deps.tenants ? deps : { ...deps, ...withinTenant(deps, deps.tenants, tenant) }
  return session === null ? own : { ...own, ...withinSession(own, session) }
}

const noTenants = fault('unauthorized', 'This server lets in no tokens of tenants.')

/** Returns the caller if it may use the route; null on an open one. */
async function checkAccess(
  deps: ServerDeps,
  context: Context<Env>,
  access: DeclaredAccess,
  what: string,
): Promise<Result<Caller | null>> {
  if (access.role === 'open') return ok(null)
  const caller = await authenticate(deps, context.req.raw, peerOf(deps, context).remote)
  if (!caller.ok) return caller
  if (caller.value.tenant !== null && !deps.tenants) return refuse(noTenants)
  const refusal = deps.requestLimit?.take(caller.value.id) ?? findRefusal(caller.value, access, what)
  return refusal ? refuse(refusal) : caller
}

/** Returns where a request comes from, as trusted proxies say. */
function peerOf({ proxies }: ServerDeps, { req, env }: Context<Env>) {
  const peer = env.incoming.socket.remoteAddress ?? ''
  const { headers } = req.raw
  return { remote: proxies.remoteOf(peer, headers), isSecure: proxies.isSecure(peer, headers) }
}

const never = new AbortController().signal

/** Watches the token and login of a caller until its answer is sent, and cuts the connection soon after they ended. */
function cutWithCaller({ storedTokens }: ServerDeps, caller: Caller | null, outgoing: ServerResponse): AbortSignal {
  const watched = storedTokens && watchCaller(storedTokens.watch, caller)
  if (!watched) return never
  const { ended, release } = watched
  let timer: NodeJS.Timeout | undefined
  const cut = () => {
    timer = setTimeout(() => outgoing.destroy(), lastFrameMs)
  }
  ended.addEventListener('abort', cut, { once: true })
  outgoing.once('close', () => {
    clearTimeout(timer)
    ended.removeEventListener('abort', cut)
    release()
  })
  return ended
}

/** How long a stream may take to send its last frame after its token ended. */
const lastFrameMs = 200

const requestIdHeader = 'x-request-id'

const safeId = /^[A-Za-z0-9][\w.:@=+-]{0,127}$/
const pathCharsMax = 300

/** Sets the request id on the answer (the caller's own if it is safe to log), logs the request when it ends, returns the id. */
export function logRequest(incoming: IncomingMessage, outgoing: ServerResponse, logger: Logger | undefined): string {
  const { method, url = '', headers } = incoming
  const given = headers[requestIdHeader]
  const requestId = typeof given === 'string' && safeId.test(given) ? given : randomUUID()
  outgoing.setHeader(requestIdHeader, requestId)
  if (!logger || logger.isLevelEnabled?.('error') === false) return requestId
  const startedMs = performance.now()
  // Without the query: it may hold a login code.
  const [path = ''] = url.split('?', 1)
  outgoing.once('close', () => {
    const { statusCode: status, writableFinished } = outgoing
    const ms = Math.round(performance.now() - startedMs)
    const about = { requestId, method, path: path.slice(0, pathCharsMax), status, ms }
    logger[status >= 500 ? 'error' : 'info']({ ...about, ...(!writableFinished && { isCut: true }) }, 'request')
  })
  return requestId
}

/** Returns the id that `logRequest` set. */
const requestIdOf = ({ env }: Context<Env>): string => String(env.outgoing.getHeader(requestIdHeader))

/** Begins the problem of a route that refuses with a code that the OpenAPI document does not name. */
export const undeclared = 'The route does not declare the code'

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every answer: no script from outside runs, no other site frames us, no address leaks. */
export const answerHeaders: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', contentPolicy],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]

/** Returns a fault as every client gets it: `{"error": {code, message, details?, requestId}}`, with known keys masked. */
export function answerFault(fault: Fault, requestId: string): Response {
  const retryAfter = fault.details?.['retryAfterSeconds']
  return new Response(maskKeys(JSON.stringify({ error: { ...fault, requestId } })), {
    status: faultStatus[fault.code],
    headers: {
      'content-type': 'application/json',
      ...(fault.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
      ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
    },
  })
}
