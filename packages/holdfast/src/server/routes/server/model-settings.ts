import { DefaultModel, GivenKey, RemovedKey, SavedKey } from '@holdfast/protocol'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'

const saveKey = defineRoute({
  on: 'POST /v1/credentials',
  summary: 'Check the key of a provider with it and save it; no answer ever contains a key',
  body: GivenKey,
  answers: answersJson(SavedKey),
  refuses: ['not_found', 'no_credentials', 'unreachable', 'bad_config'],
  handle: ({ input, request }, { modelSettings }) => modelSettings.saveKey(input.body, request.signal),
})

const removeKey = defineRoute({
  on: 'DELETE /v1/credentials/:provider',
  summary: 'Remove the stored key of a provider',
  answers: answersJson(RemovedKey),
  refuses: ['not_found', 'bad_config'],
  handle: ({ path }, { modelSettings }) => modelSettings.removeKey(path['provider'] ?? ''),
})

const setDefault = defineRoute({
  on: 'POST /v1/models/default',
  summary: 'Set the model of sessions that name none',
  body: DefaultModel,
  answers: answersJson(DefaultModel),
  refuses: ['not_found', 'unknown_model', 'bad_config'],
  handle: ({ input }, { modelSettings }) => modelSettings.setDefault(input.body),
})

export const modelSettingRoutes: readonly Route[] = [saveKey, removeKey, setDefault]
