import type { ListedModel, ModelList, Price, ThinkingLevel } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol'
import { tokensText } from '../text/format.ts'
import type { ChoiceGroup } from '../ui/combobox.tsx'

/** Returns the name that people know a model by. */
export const modelTitle = ({ model, title }: Pick<ListedModel, 'model' | 'title'>): string => escapeLine(title ?? model)

const dollars = (amount: number): string => `$${Number(amount.toPrecision(3))}`

/** Returns what a million tokens cost. An unknown price is never shown as zero. */
export function priceText(price: Price | null): string {
  if (price === null) return 'price unknown'
  if (price.input === 0 && price.output === 0) return 'free'
  return `${dollars(price.input)} in, ${dollars(price.output)} out per 1M tokens`
}

/** Returns the size of the context, and what a model can do besides text. */
export function abilitiesText({ contextTokens, takes, tools, thinkingLevels }: ListedModel): string {
  const files = (takes ?? []).map((type) =>
    type.startsWith('image/') ? 'images' : type === 'application/pdf' ? 'PDF' : type,
  )
  return [
    contextTokens === null ? [] : `${tokensText(contextTokens)} context`,
    [...new Set(files)],
    tools === false ? 'no tools' : [],
    thinkingLevels?.some((level) => level !== 'off') ? 'thinking' : [],
  ]
    .flat()
    .join(' · ')
}

/** A model of the picker, with its provider. */
export type ModelChoice = ListedModel & {
  readonly providerTitle: string
  /** The provider that needs a key before the model can be called; null if a key would not help. */
  readonly needsKeyOf: string | null
}

/** Returns the text that a search looks at. */
export const searchedText = ({ model, title, providerTitle }: ModelChoice): string =>
  `${model} ${title ?? ''} ${providerTitle}`

/** Groups the models by provider: first those that can be called, then those that need a key, then the others. */
export function groupModels({ models, providers }: ModelList): readonly ChoiceGroup<ModelChoice>[] {
  const byName = new Map(providers.map((provider) => [provider.provider, provider]))
  const groups = new Map<string, { label: string; rank: number; items: ModelChoice[] }>()
  for (const model of models) {
    const name = model.model.slice(0, model.model.indexOf('/'))
    const provider = byName.get(name)
    const needsKeyOf = model.unusable !== null && provider?.needsKey ? name : null
    const rank = model.unusable === null ? 0 : needsKeyOf !== null ? 1 : 2
    const title = escapeLine(provider?.title ?? name)
    const label =
      rank === 0
        ? title
        : rank === 1
          ? `${title}: needs a key. Choose a model to add it.`
          : `${title}: cannot be used now`
    const group = groups.get(label) ?? { label, rank, items: [] }
    group.items.push({ ...model, providerTitle: title, needsKeyOf })
    groups.set(label, group)
  }
  return [...groups.values()].toSorted((one, other) => one.rank - other.rank)
}

export const allThinkingLevels: readonly ThinkingLevel[] = ['off', 'low', 'medium', 'high']

/** Returns the thinking levels of a model; all if it is not known. */
export const levelsOf = (models: ModelList | null, name: string | null): readonly ThinkingLevel[] =>
  models?.models.find((one) => (name === null ? one.isDefault : one.model === name))?.thinkingLevels ??
  allThinkingLevels
