import type { Prompt } from './prompt.ts'

/**
 * Whether the rounds that run were begun without thinking, by another model or with thinking off. Anthropic then
 * refuses to think on: an answer that calls tools must begin with its thinking, and nobody can make that up.
 */
export function isUnthought(prompt: Prompt<unknown>): boolean {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant')
  if (!hasCalls(prompt[last])) return false
  let first = last
  while (prompt[first - 1]?.role === 'tool' && hasCalls(prompt[first - 2])) first -= 2
  const begin = prompt[first]
  return begin?.role === 'assistant' && begin.content[0]?.type !== 'reasoning'
}

const hasCalls = (message: Prompt<unknown>[number] | undefined): boolean =>
  message?.role === 'assistant' && message.content.some(({ type }) => type === 'tool-call')
