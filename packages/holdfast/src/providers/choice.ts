import { type ModelName, providerOf, type RotationEntry } from '@holdfast/protocol'
import type { FactsByModel } from './catalogue/facts-by-model.ts'
import type { Reach } from './connect/reach.ts'

/** Which models a person wants, of those there are. */
export type Choice = {
  /** For sessions that name none. */
  readonly model?: ModelName | undefined
  readonly rotation?: readonly RotationEntry[] | undefined
  /** One after the other, when a model is overloaded. */
  readonly fallbacks?: readonly ModelName[] | undefined
}

export const rotationOf = (
  { rotation = [] }: Choice,
  isCallable: (model: ModelName) => boolean,
): readonly RotationEntry[] => rotation.filter(({ model }) => isCallable(model))

/** A model of the chain is followed by those behind it; any other by the whole chain. */
export const fallbacksOf = (
  { fallbacks = [] }: Choice,
  model: ModelName,
  tried: readonly ModelName[],
): readonly ModelName[] =>
  fallbacks.slice(fallbacks.indexOf(model) + 1).filter((next) => next !== model && !tried.includes(next))

/** The default that was chosen, or that there is a key for; null when it is left to what runs on this machine. */
export function chosenDefault({ model }: Choice, reach: readonly Reach[]): ModelName | null {
  if (model !== undefined) return model
  for (const { service, key } of reach)
    if (service.defaultModel !== undefined && key.type === 'held') return `${service.name}/${service.defaultModel}`
  return null
}

/** Of what runs on this machine, the one that was used last; rather one that can call tools. */
export function localDefault(found: FactsByModel): ModelName | null {
  const ollama = Object.entries(found).filter(([model]) => providerOf(model) === 'ollama')
  const [model] = ollama.find(([, { tools }]) => tools === true) ?? ollama[0] ?? []
  return model ?? null
}
