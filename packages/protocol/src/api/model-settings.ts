import { z } from 'zod'
import type { Result } from '../value/result.ts'
import { ModelName, ProviderName } from '../value/settings.ts'

/** The key of a provider, as a person enters it. It is saved on the server, and never comes back out. */
export const GivenKey = z.strictObject({
  /** The first part of the names of its models. */
  provider: ProviderName,
  /** The key itself. */
  key: z.string().min(1).max(10_000),
  /** Save it although the provider cannot confirm it. A key that it rejects is not saved either way. */
  isUnchecked: z.boolean().optional(),
})
export type GivenKey = z.infer<typeof GivenKey>

/** What became of a key. It has nothing of the key itself. */
export const SavedKey = z.object({
  /** The provider that the key is of. */
  provider: ProviderName,
  /** Whether the provider accepted it. */
  isChecked: z.boolean(),
  /** The account it belongs to, as far as the provider says. */
  account: z.string().nullable(),
  /** A warning, for example that a variable is used instead of it. */
  note: z.string().nullable(),
})
export type SavedKey = z.infer<typeof SavedKey>

/** A provider whose key was removed. */
export const RemovedKey = SavedKey.pick({ provider: true, note: true })
export type RemovedKey = z.infer<typeof RemovedKey>

/** The model of sessions that name none. */
export const DefaultModel = z.strictObject({ model: ModelName })
export type DefaultModel = z.infer<typeof DefaultModel>

/** The keys of providers and the default model, as a person sets them on a server. */
export interface ModelSettings {
  /** Checks a key with its provider and saves it. Refused: bad_request, no_credentials if it is rejected, unreachable. */
  saveKey(given: GivenKey, signal?: AbortSignal): Promise<Result<SavedKey>>
  /** Removes the stored key of a provider. Refused: not_found. */
  removeKey(provider: string): Promise<Result<RemovedKey>>
  /** Sets the model of sessions that name none, now and after a restart. Refused: unknown_model, bad_config. */
  setDefault(given: DefaultModel): Promise<Result<DefaultModel>>
}
