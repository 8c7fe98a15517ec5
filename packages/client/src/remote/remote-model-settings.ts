import { DefaultModel, GivenKey, type ModelSettings, parseOptions, RemovedKey, SavedKey } from '@holdfast/protocol'
import { type Http, parseAnswer } from '../http/http.ts'

/** The keys of providers and the default model of the runtime behind a server. */
export const createRemoteModelSettings = (wire: Http): ModelSettings => ({
  async saveKey(given) {
    const key = parseOptions(GivenKey, given, 'save the key')
    if (!key.ok) return key
    return parseAnswer(await wire.json('/v1/credentials', { body: key.value }), 'a new key', SavedKey)
  },
  async removeKey(provider) {
    const answer = await wire.json(`/v1/credentials/${encodeURIComponent(provider)}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the removal of a key', RemovedKey)
  },
  async setDefault(given) {
    const model = parseOptions(DefaultModel, given, 'set the default model')
    if (!model.ok) return model
    return parseAnswer(await wire.json('/v1/models/default', { body: model.value }), 'a default model', DefaultModel)
  },
})
