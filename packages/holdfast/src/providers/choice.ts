import { type ModelName, providerOf, type RotationEntry } from '@holdfast/protocol'
import type { FactsByModel } from './catalogue/catalogue.ts'
import type { Connection } from './connect/connection.ts'

/** The models that the config chooses. */
export type ModelChoice = {
  /** For sessions that name no model. */
  readonly model?: ModelName | undefined
  readonly rotation?: readonly RotationEntry[] | undefined
  /** Tried in order when a model is overloaded. */
  readonly fallbacks?: readonly ModelName[] | undefined
}

/** Lists the fallbacks of a model: those after it in the chain, or the whole chain if it is not part of it. */
export const listFallbacks = (
  { fallbacks = [] }: ModelChoice,
  model: ModelName,
  tried: readonly ModelName[],
): readonly ModelName[] =>
  fallbacks.slice(fallbacks.indexOf(model) + 1).filter((next) => next !== model && !tried.includes(next))

/** Returns the configured default, or that of the first service with a key; null leaves it to local models. */
export function findChosenDefault({ model }: ModelChoice, connections: readonly Connection[]): ModelName | null {
  if (model !== undefined) return model
  for (const { service, key } of connections)
    if (service.defaultModel !== undefined && key.type === 'found') return `${service.name}/${service.defaultModel}`
  return null
}

/** Returns the last used model of Ollama, preferably one that can call tools. */
export function findLocalDefault(facts: FactsByModel): ModelName | null {
  const ollama = Object.entries(facts).filter(([model]) => providerOf(model) === 'ollama')
  const [model] = ollama.find(([, { tools }]) => tools === true) ?? ollama[0] ?? []
  return model ?? null
}
