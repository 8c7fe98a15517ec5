import { ModelName } from '@holdfast/protocol'

const families: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(gpt|o\d|codex|chatgpt)/i, 'openai'],
  [/^gemini/i, 'google'],
]

/** A model as another program writes it, as `provider/model`; null when it cannot be one. */
export function modelName(model: string | undefined, vendor?: string | undefined): string | null {
  if (model === undefined || model.trim() === '' || model.startsWith('<')) return null
  const spoken = model.trim().replace(/\s+/g, '-')
  const [, before, after] = /^([A-Za-z0-9][\w-]*)[:/](.+)$/.exec(spoken) ?? []
  const provider = vendor || before || families.find(([pattern]) => pattern.test(spoken))?.[1] || 'unknown'
  const called = vendor === undefined && after !== undefined ? after : spoken
  const name = `${provider.toLowerCase().replace(/[^a-z0-9_-]+/g, '-')}/${called}`
  return ModelName.safeParse(name).success ? name : null
}
