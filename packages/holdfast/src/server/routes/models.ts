import { ModelList, ok, type Result } from '@holdfast/protocol'
import { defineRoute } from '../http/route.ts'

const list = { status: 200, mediaType: 'application/json', schema: ModelList } as const
/** Only what the schema knows: an answer never holds a key. */
const answerOf = (models: Result<ModelList>): Result<Response> =>
  models.ok ? ok(Response.json(ModelList.parse(models.value))) : models

export const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models',
  access: 'token',
  summary: 'Which models can be called now, and why the rest cannot',
  answers: list,
  handle: async (_, { sessions }) => answerOf(await sessions.models()),
})

export const refreshCredentials = defineRoute({
  method: 'POST',
  path: '/v1/credentials/refresh',
  access: 'token',
  summary: 'Look anew for credentials, and say which models can be called then',
  answers: list,
  handle: async (_, { sessions }) => answerOf(await sessions.refreshCredentials()),
})
