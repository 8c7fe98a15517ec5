import { fault, type ModelSettings, ok, refuse } from '@holdfast/protocol'
import { toResult } from '../admin/jobs/admin.ts'
import type { DiscoveringModels } from '../providers/models.ts'
import { changeConfig } from '../system/config/config-file.ts'
import { type Configured, configPath } from '../system/config/read-config.ts'
import type { Environment, Home } from '../system/home.ts'
import { type Keys, openKeys } from './keys.ts'

type ModelSettingsDeps = {
  readonly environment: Environment
  readonly home: Home
  readonly models: DiscoveringModels
  readonly configured: Configured
}

/** Saves keys of providers and the default model for the clients of a server. No answer contains a key. */
export function openModelSettings({ environment, home, models, configured }: ModelSettingsDeps): ModelSettings {
  const open = () => toResult(() => openKeys(environment, home))
  return {
    async saveKey({ provider, key: given, isUnchecked = false }, signal = new AbortController().signal) {
      const opened = await open()
      if (!opened.ok) return opened
      const keys = opened.value
      const found = keys.find(provider)
      if (!found.ok) return found
      const key = given.trim()
      const problem = keys.whyNoKey(key)
      if (problem !== null) return refuse(fault('bad_request', `${problem} ${unchanged}`, { provider }))
      const verdict = await keys.check(provider, { key }, signal)
      if (verdict.type === 'rejected')
        return refuse(fault('no_credentials', `${verdict.message} ${unchanged}`, { provider, reason: 'rejected' }))
      if (verdict.type === 'unknown' && !isUnchecked)
        return refuse(fault('unreachable', `${verdict.message} ${unchanged}`, { provider }))
      const saved = await keys.save(found.value.name, { key })
      if (!saved.ok) return saved
      const refreshed = await models.refresh()
      if (!refreshed.ok) return refreshed
      const accepted = verdict.type === 'accepted' ? verdict : null
      const notes = [accepted?.note ?? [], shadowNote(keys, found.value.name, 'used instead')].flat()
      return ok({
        provider: found.value.name,
        isChecked: accepted !== null,
        account: accepted?.account ?? null,
        note: notes.length > 0 ? notes.join(' ') : null,
      })
    },

    async removeKey(name) {
      const opened = await open()
      if (!opened.ok) return opened
      const keys = opened.value
      const found = keys.find(name)
      if (!found.ok) return found
      const { name: provider, title } = found.value
      const removed = await keys.remove(provider)
      if (!removed.ok) return removed
      const [note = null] = shadowNote(keys, provider, 'still used')
      if (!removed.value)
        return refuse(fault('not_found', [`There is no stored key for ${title}.`, note ?? []].flat().join(' ')))
      const refreshed = await models.refresh()
      return refreshed.ok ? ok({ provider, note }) : refreshed
    },

    async setDefault({ model }) {
      const found = models.find(model)
      if (found.type === 'unknown_model') return refuse(fault('unknown_model', found.message, { model }))
      const path = configPath(home.configDir)
      const by = configured.from.model
      if (by !== undefined && by !== path)
        return refuse(fault('bad_config', `${by} sets the default model. Remove it and restart the server first.`))
      const written = await changeConfig(path, (config) => ({ ...config, model }))
      if (!written.ok) return written
      models.setDefault(model)
      return ok({ model })
    },
  }
}

const unchanged = 'Nothing was changed.'

/** Says that a variable has the key of a provider too. */
function shadowNote(keys: Keys, provider: string, how: string): readonly string[] {
  const from = keys.status().find((one) => one.provider === provider)?.from
  return from?.type === 'variable' ? [`The variable ${from.name} is set on the server and is ${how}.`] : []
}
