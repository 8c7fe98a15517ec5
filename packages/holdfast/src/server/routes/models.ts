import { ModelList, ok, type Result } from '@holdfast/protocol'
import { answersJson, defineRoute, type Route } from '../http/route.ts'

/** Sends only the fields of the schema, so that an answer never contains a key. */
const onlyKnownFields = (models: Result<ModelList>): Result<ModelList> =>
  models.ok ? ok(ModelList.parse(models.value)) : models

const listModels = defineRoute({
  method: 'GET',
  path: '/v1/models',
  access: 'token',
  summary: 'List the models that can be called now, and why the others cannot',
  answers: answersJson(ModelList),
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.models()),
})

const refreshCredentials = defineRoute({
  method: 'POST',
  path: '/v1/credentials/refresh',
  access: 'token',
  summary: 'Read the credentials again, and list the models that can be called',
  answers: answersJson(ModelList),
  handle: async (_, { sessions }) => onlyKnownFields(await sessions.refreshCredentials()),
})

export const modelRoutes: readonly Route[] = [listModels, refreshCredentials]
