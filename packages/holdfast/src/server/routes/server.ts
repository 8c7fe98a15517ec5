import { ModelList, ok, type Result, Stats } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route, wholeNumber } from '../http/route.ts'

const getHealth = defineRoute({
  on: 'GET /v1/health',
  access: 'open',
  summary: 'Check that the server runs, and get its version',
  query: z.object({}), // a probe may add parameters to get past a cache
  answers: answersJson(z.object({ status: z.literal('ok'), version: z.string() })),
  handle: async (_, { version }) => ok({ status: 'ok', version }),
})

/** Exchanges the one-time code of the login link for a cookie, and removes the code from the address bar. */
const getLogin = defineRoute({
  on: 'GET /login',
  access: 'open',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: { status: 303, mediaType: 'text/plain', schema: null },
  async handle({ input, request, remote }, { codes, cookie, attempts }) {
    if (codes.redeem(input.query.code)) return ok(redirectToPage({ 'set-cookie': cookie.issue() }))
    // Going back in the browser history opens the used link again, already logged in.
    if (cookie.loginOf(request.headers.get('cookie')) !== null) return ok(redirectToPage({}))
    return attempts.refuse(remote, usedLink)
  },
})

const usedLink =
  'This login link was already used or is older than ten minutes. Restart the server to get a new one: holdfast serve'

const redirectToPage = (headers: Readonly<Record<string, string>>) =>
  new Response(null, { status: 303, headers: { location: '/', ...headers } })

const getOpenApi = defineRoute({
  on: 'GET /v1/openapi.json',
  access: 'token',
  summary: 'Get this OpenAPI document',
  answers: answersJson(z.object({})),
  handle: async (_, { describeApi }) => ok(describeApi()),
})

/** Sends only the fields of the schema, so that an answer never contains a key. */
const onlyKnownFields = (models: Result<ModelList>): Result<ModelList> =>
  models.ok ? ok(ModelList.parse(models.value)) : models

const listModels = defineRoute({
  on: 'GET /v1/models',
  access: 'token',
  summary: 'List the models that can be called now, and why the others cannot',
  answers: answersJson(ModelList),
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.models()),
})

const refreshCredentials = defineRoute({
  on: 'POST /v1/credentials/refresh',
  access: 'token',
  summary: 'Read the credentials again, and list the models that can be called',
  answers: answersJson(ModelList),
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.refreshCredentials()),
})

const getStats = defineRoute({
  on: 'GET /v1/stats',
  access: 'admin',
  summary: 'Count sessions, messages, tokens and stored bytes',
  query: z.strictObject({ days: wholeNumber.pipe(z.int().min(1).max(3660)).optional() }),
  answers: answersJson(Stats),
  handle: ({ input }, { stats }) => stats(input.query),
})

export const serverRoutes: readonly Route[] = [
  getHealth,
  getLogin,
  getOpenApi,
  listModels,
  refreshCredentials,
  getStats,
]
