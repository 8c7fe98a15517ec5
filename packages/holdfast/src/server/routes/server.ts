import { Access, LoginLink, ModelList, ok, type Result, Stats } from '@holdfast/protocol'
import { z } from 'zod'
import { codeLifeMs } from '../auth/login.ts'
import { answersJson, defineRoute, type Route, wholeNumber } from '../define/route.ts'

const getHealth = defineRoute({
  on: 'GET /v1/health',
  answersHead: true,
  summary: 'Check that the server runs, and get its version',
  query: z.object({}), // a probe may add parameters to get past a cache
  answers: answersJson(
    z.object({ status: z.literal('ok'), version: z.string(), savedCopies: z.int().min(1).optional() }),
  ),
  handle: async (_, { version, savedCopies }) =>
    ok({ status: 'ok', version, ...(savedCopies > 0 && { savedCopies }) } as const),
})

const getReady = defineRoute({
  on: 'GET /v1/ready',
  answersHead: true,
  summary: 'Check that the server can run sessions: its store works, and it is not shutting down',
  query: z.object({}),
  answers: answersJson(z.object({ status: z.literal('ready') })),
  refuses: ['not_ready'],
  async handle(_, { ready }) {
    const found = await ready()
    return found.ok ? ok({ status: 'ready' } as const) : found
  },
})

/** Exchanges the one-time code of the login link for a cookie, and removes the code from the address bar. */
const getLogin = defineRoute({
  on: 'GET /login',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: {
    ...{ status: 303, mediaType: 'text/plain', schema: null },
    headers: { Location: 'The page', 'Set-Cookie': 'The login' },
  },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, request, remote, isSecure }, { codes, cookie, attempts, storedTokens }) {
    const code = codes.redeem(input.query.code)
    const token = code?.token ? ((await storedTokens?.get(code.token)) ?? null) : null
    // A link that a token made ends with the token, and so does its login.
    if (code && (code.token === null || token))
      return ok(redirectToPage({ 'set-cookie': cookie.issue({ token, isSecure }) }))
    // Going back in the browser history opens the used link again, already logged in.
    if (cookie.loginsOf(request.headers.get('cookie')).length > 0) return ok(redirectToPage({}))
    return attempts.refuse(remote, usedLink)
  },
})

const usedLink =
  'This login link was already used, is older than ten minutes, or was made with a token that ended. On the machine of the server, `holdfast login` prints a new one.'

/** Exchanges a token for a cookie. The secret of a share link comes here from the fragment of its address. */
const postLogin = defineRoute({
  on: 'POST /v1/login',
  summary: 'Log the page in with a token, such as that of a share link',
  body: z.strictObject({ token: z.string().min(1).max(200) }),
  answers: { ...answersJson(Access), headers: { 'Set-Cookie': 'The login' } },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, remote, isSecure }, { storedTokens, cookie, attempts }) {
    const token = (await storedTokens?.find(input.body.token)) ?? null
    if (token === null) return attempts.refuse(remote, 'This token or link is unknown, was revoked or has expired.')
    const { role, session, tenant, expiresAt } = token
    const headers = { 'set-cookie': cookie.issue({ token, isSecure }) }
    return ok(Response.json({ role, session, tenant, expiresAt }, { headers }))
  },
})

const createLoginLink = defineRoute({
  on: 'POST /v1/login-links',
  summary: 'Create a link that logs a browser in; it works once, for ten minutes',
  answers: answersJson(LoginLink, 201),
  async handle({ caller }, { links, now }) {
    const tokenEnds = caller?.expiresAt ? Date.parse(caller.expiresAt) : Number.POSITIVE_INFINITY
    const expiresAt = new Date(Math.min(now() + codeLifeMs, tokenEnds)).toISOString()
    return ok({ ...links.login(caller?.token), expiresAt })
  },
})

const getAccess = defineRoute({
  on: 'GET /v1/access',
  summary: 'Tell what the token or login of this request may do',
  answers: answersJson(Access),
  async handle({ caller }) {
    const { role, session = null, tenant = null, expiresAt = null } = caller ?? {}
    return ok({ role, session, ...(tenant !== null && { tenant }), expiresAt })
  },
})

const redirectToPage = (headers: Readonly<Record<string, string>>) =>
  new Response(null, { status: 303, headers: { location: '/', ...headers } })

const getOpenApi = defineRoute({
  on: 'GET /v1/openapi.json',
  summary: 'Get this OpenAPI document',
  answers: answersJson(z.object({})),
  async handle(_, { describeApi }) {
    const text = await describeApi()
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    return ok(new Response(text, { headers }))
  },
})

/** Sends only the fields of the schema, so that an answer never contains a key. */
const onlyKnownFields = (models: Result<ModelList>): Result<ModelList> =>
  models.ok ? ok(ModelList.parse(models.value)) : models

const listModels = defineRoute({
  on: 'GET /v1/models',
  summary: 'List the models that can be called now, and why the others cannot',
  answers: answersJson(ModelList),
  refuses: ['bad_config'],
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.models()),
})

const refreshCredentials = defineRoute({
  on: 'POST /v1/credentials/refresh',
  summary: 'Read the credentials again, and list the models that can be called',
  answers: answersJson(ModelList),
  refuses: ['bad_config'],
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.refreshCredentials()),
})

const getStats = defineRoute({
  on: 'GET /v1/stats',
  summary: 'Count sessions, messages, tokens and stored bytes',
  query: z.strictObject({ days: wholeNumber.pipe(z.int().min(1).max(3660)).optional() }),
  answers: answersJson(Stats),
  refuses: ['not_found'],
  handle: ({ input }, { stats }) => stats(input.query),
})

export const serverRoutes: readonly Route[] = [
  getHealth,
  getReady,
  getLogin,
  postLogin,
  createLoginLink,
  getAccess,
  getOpenApi,
  listModels,
  refreshCredentials,
  getStats,
]
