import { ModelList, ok, type Result, Stats } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route, wholeNumber } from '../../define/route.ts'

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

export const healthRoutes: readonly Route[] = [getHealth, getReady]
export const serverRoutes: readonly Route[] = [getOpenApi, listModels, refreshCredentials, getStats]
