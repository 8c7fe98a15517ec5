import { fault, faultStatus, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { authenticate, type TokenRole } from './auth/authenticate.ts'
import { answerFault, answerHeaders } from './http/answer.ts'
import { requestIdOf } from './http/request-log.ts'
import type { Route, ServerDeps } from './http/route.ts'
import { answerPageFile } from './page-files.ts'

type Env = { Bindings: HttpBindings }

/** Puts the access checks in front of the routes: the Origin, then the token, then its role. */
export function createApp(routes: readonly Route[], deps: ServerDeps): Hono<Env> {
  const app = new Hono<Env>()
  const noSuchRoute = fault('not_found', 'No such route. /v1/openapi.json lists all routes.')

  app.use(async (context, next) => {
    const refusal = deps.address.checkOrigin(context.req.raw.headers.get('origin'))
    if (refusal) context.res = answerFault(refusal)
    else await next()
    const { headers } = context.res
    for (const [name, value] of answerHeaders) if (!headers.has(name)) headers.set(name, value)
    if (deps.closing.aborted) headers.set('connection', 'close')
  })

  for (const route of routes) {
    app.on(route.method, route.path, async (context, next) => {
      const { req, env } = context
      if (req.method !== route.method) return next() // Hono answers HEAD with GET, and HEAD must not redeem a login code
      const caller = checkAccess(deps, context, route.access)
      if (!caller.ok) return answerFault(caller.fault)
      const answer = await route.answer(
        {
          request: req.raw,
          path: req.param(),
          query: req.query(),
          remote: env.incoming.socket.remoteAddress ?? '',
          caller: caller.value,
        },
        deps,
      )
      if (answer.ok) return answer.value
      const { code, message, details } = answer.fault
      if (code !== 'internal') return answerFault(answer.fault)
      return answerFault(fault(code, message, { ...details, id: requestIdOf(env.outgoing) }))
    })
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.flatMap((route) => (route.path === path ? [route.method] : [])).join(', ')
    app.all(path, (context) => {
      const caller = checkAccess(deps, context, 'token')
      if (!caller.ok) return answerFault(caller.fault)
      const error = fault('bad_request', `This route accepts only ${allow}.`)
      return Response.json({ error }, { status: 405, headers: { allow } })
    })
  }
  app.all('/v1/*', (context) => {
    const caller = checkAccess(deps, context, 'token')
    return answerFault(caller.ok ? noSuchRoute : caller.fault)
  })
  app.get('*', async (context) => {
    const file = await answerPageFile(deps.pageDir, new URL(context.req.url).pathname)
    return file ?? answerFault(fault('not_found', 'No such file.'))
  })
  app.notFound(() => answerFault(noSuchRoute))
  app.onError((error, context) => {
    const expected = error instanceof HoldfastError && error.code !== 'internal' ? error.toFault() : null
    if (expected && faultStatus[expected.code] < 500) return answerFault(expected)
    const id = requestIdOf(context.env.outgoing)
    // The path without its query: a query may hold a login code.
    deps.onProblem({ where: `${context.req.method} ${context.req.path} (${id})`, cause: error })
    return answerFault(expected ?? fault('internal', `Internal error. Search the server log for ${id}.`, { id }))
  })
  return app
}

/** Returns the caller's role if it may use the route. A viewer may read everything and change nothing. */
function checkAccess(deps: ServerDeps, { req, env }: Context<Env>, access: Route['access']): Result<TokenRole | null> {
  if (access === 'open') return ok(null)
  const caller = authenticate(deps, req.raw, env.incoming.socket.remoteAddress ?? '')
  if (!caller.ok) return caller
  if (caller.value === 'viewer' && req.method !== 'GET' && req.method !== 'HEAD')
    return refuse(fault('not_driver', 'This token may only read.'))
  if (access === 'admin' && caller.value !== 'admin')
    return refuse(fault('not_driver', 'This route needs an admin token: it affects the whole store.'))
  return caller
}
