import type { ThinkingLevel } from '@holdfast/protocol'
import type { Asked, Dialect, Thinking } from './dialect/dialect.ts'

const rising: readonly ThinkingLevel[] = ['low', 'medium', 'high']

/**
 * What to ask so that a model thinks at a level. `known` are the levels it has; null when nobody knows. A model that
 * does not think is asked nothing: services refuse the very question.
 */
export function thinkingOf(
  level: ThinkingLevel,
  { dialect, known, ...asked }: Asked & { readonly dialect: Dialect; readonly known: readonly ThinkingLevel[] | null },
): Thinking {
  if (known === null) return dialect.thinking.isThinker(asked.modelId) ? dialect.thinking.ask(level, asked) : {}
  const nearest = nearestLevel(level, known)
  return nearest === null ? {} : dialect.thinking.ask(nearest, asked)
}

/** The level a model has that comes nearest: rather less thinking than more, but some where some was asked for. */
export function nearestLevel(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel | null {
  const levels = rising.filter((one) => known.includes(one))
  if (levels.length === 0) return null
  if (known.includes(level)) return level
  const lower = levels.filter((one) => rising.indexOf(one) < rising.indexOf(level))
  return lower.at(-1) ?? levels[0] ?? null
}
