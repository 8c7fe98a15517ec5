import { type Fault, fault, faultStatus, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { authenticate } from './auth/authenticate.ts'
import type { Role } from './auth/token.ts'
import { answerHeaders } from './http/answer-headers.ts'
import { errorAnswer } from './http/error-answer.ts'
import { requestIdIn } from './http/request-log.ts'
import type { Exchange, Route } from './http/route.ts'
import type { ServerDeps } from './http/server-deps.ts'
import { answerPageFile } from './page-files.ts'

type Env = { Bindings: HttpBindings }

/** Puts the route table behind its checks: Origin, then who calls, then what for. */
export function createApp(routes: readonly Route[], parts: ServerDeps): Hono<Env> {
  const app = new Hono<Env>()
  const noSuchRoute = fault('not_found', 'There is no such route; /v1/openapi.json lists them.')

  app.use(async (context, next) => {
    const refusal = parts.address.checkOrigin(context.req.header('origin'))
    if (refusal) context.res = errorAnswer(refusal)
    else await next()
    finish(context, parts)
  })

  for (const route of routes) {
    app.on(route.method, route.path, async (context, next) => {
      if (context.req.method !== route.method) return next() // Hono takes HEAD for GET, and HEAD must redeem no code
      const admitted = admit(parts, context, route.access)
      const answer = admitted.ok ? await route.answer(exchangeOf(context, admitted.value), parts) : admitted
      return answer.ok ? answer.value : errorAnswer(named(answer.fault, context))
    })
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.flatMap((route) => (route.path === path ? [route.method] : [])).join(', ')
    app.all(path, (context) => {
      const admitted = admit(parts, context, 'token')
      if (!admitted.ok) return errorAnswer(admitted.fault)
      return Response.json(
        { error: fault('bad_request', `This route takes ${allow} only.`) },
        { status: 405, headers: { allow } },
      )
    })
  }
  app.all('/v1/*', (context) => {
    const admitted = admit(parts, context, 'token')
    return errorAnswer(admitted.ok ? noSuchRoute : admitted.fault)
  })
  app.get('*', async (context) => {
    const file = await answerPageFile(parts.pageDir, new URL(context.req.url).pathname)
    return file ?? errorAnswer(fault('not_found', 'There is no such file.'))
  })
  app.notFound(() => errorAnswer(noSuchRoute))
  app.onError((error, context) => {
    const foreseen = error instanceof HoldfastError && error.code !== 'internal' ? error.toFault() : null
    if (foreseen && faultStatus[foreseen.code] < 500) return errorAnswer(foreseen)
    const id = requestIdIn(context.env.outgoing)
    // The path without its query: a query may hold a login code.
    parts.onProblem({ where: `${context.req.method} ${context.req.path} (${id})`, cause: error })
    if (foreseen) return errorAnswer(foreseen)
    return errorAnswer(fault('internal', `Something went wrong here. The server's log tells more under ${id}.`, { id }))
  })
  return app
}

/** What went wrong here is found in the log by the id of its request. */
const named = (one: Fault, { env }: Context<Env>): Fault =>
  one.code === 'internal' ? fault(one.code, one.message, { ...one.details, id: requestIdIn(env.outgoing) }) : one

/** The caller, if it may go on. A viewer may look at everything and change nothing. */
function admit(parts: ServerDeps, { req, env }: Context<Env>, access: Route['access']): Result<Role | null> {
  if (access === 'open') return ok(null)
  const caller = authenticate(parts, {
    method: req.method,
    remote: remoteOf(env),
    header: (name) => req.header(name),
  })
  if (!caller.ok) return caller
  const changes = req.method !== 'GET' && req.method !== 'HEAD'
  if (changes && caller.value === 'viewer') {
    return refuse(fault('not_driver', 'This token may look but not command.'))
  }
  if (access === 'admin' && caller.value !== 'admin') {
    return refuse(fault('not_driver', 'This is for admin tokens only: it concerns the whole store.'))
  }
  return caller
}

const remoteOf = (env: HttpBindings) => env.incoming.socket.remoteAddress ?? ''

const exchangeOf = ({ req, env }: Context<Env>, caller: Role | null): Exchange => ({
  request: req.raw,
  path: req.param(),
  query: req.query(),
  remote: remoteOf(env),
  caller,
})

function finish({ res }: Context<Env>, { closing }: ServerDeps) {
  for (const [name, value] of Object.entries(answerHeaders)) if (!res.headers.has(name)) res.headers.set(name, value)
  if (!res.headers.has('cache-control')) res.headers.set('cache-control', 'no-store')
  if (closing.aborted) res.headers.set('connection', 'close')
}
