import type { ThinkingLevel } from '@holdfast/protocol'
import type { Dialect, Thinking, ThinkingRequest } from './dialect/dialect.ts'
import type { Prompt } from './prompt.ts'

const risingLevels: readonly ThinkingLevel[] = ['low', 'medium', 'high']

/**
 * Returns the parameters for thinking at a level. `known` are the levels of the model; null if unknown. A model that
 * does not think gets none: services refuse the parameter.
 */
export function requestThinking(
  level: ThinkingLevel,
  {
    dialect,
    known,
    ...request
  }: ThinkingRequest & { readonly dialect: Dialect; readonly known: readonly ThinkingLevel[] | null },
): Thinking {
  if (known === null) return dialect.thinking.isThinker(request.modelId) ? dialect.thinking.request(level, request) : {}
  const nearest = findNearestLevel(level, known)
  return nearest === null ? {} : dialect.thinking.request(nearest, request)
}

/** Returns the nearest level that a model has: rather less thinking than more, but not none if some was asked for. */
export function findNearestLevel(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel | null {
  const levels = risingLevels.filter((one) => known.includes(one))
  if (levels.length === 0) return null
  if (known.includes(level)) return level
  const lower = levels.filter((one) => risingLevels.indexOf(one) < risingLevels.indexOf(level))
  return lower.at(-1) ?? levels[0] ?? null
}

/**
 * Returns whether the current rounds began without thinking, by another model or with thinking off. Anthropic then
 * refuses to think: an answer with tool calls must begin with its thinking.
 */
export function beganWithoutThinking(prompt: Prompt<unknown>): boolean {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant')
  if (!hasCalls(prompt[last])) return false
  let first = last
  while (prompt[first - 1]?.role === 'tool' && hasCalls(prompt[first - 2])) first -= 2
  const begin = prompt[first]
  return begin?.role === 'assistant' && begin.content[0]?.type !== 'reasoning'
}

const hasCalls = (message: Prompt<unknown>[number] | undefined): boolean =>
  message?.role === 'assistant' && message.content.some(({ type }) => type === 'tool-call')
