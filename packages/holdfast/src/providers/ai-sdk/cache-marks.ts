import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Prompt } from './prompt.ts'

/**
 * Marks where a service shall keep what it read: behind the instructions, behind what was sent last, and where that was in
 * the request before this one, so that the long part of a round is found however much came since. Only marks move from
 * request to request; what they stand on stays as it is.
 */
export function markForCache<File>(prompt: Prompt<File>, mark: SharedV4ProviderOptions): Prompt<File> {
  const marked = new Set([prompt.findIndex(({ role }) => role === 'system'), ...lastOfPeople(prompt)])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: mark } : message))
}

/** The last message that is not the model's, and the last one before the answer before it. */
function lastOfPeople(prompt: Prompt<unknown>): readonly number[] {
  const isPeople = ({ role }: Prompt<unknown>[number]) => role === 'user' || role === 'tool'
  const last = prompt.findLastIndex(isPeople)
  const answer = prompt.slice(0, Math.max(0, last)).findLastIndex(({ role }) => role === 'assistant')
  const before = answer === -1 ? -1 : prompt.slice(0, answer).findLastIndex(isPeople)
  return [last, before].filter((index) => index !== -1)
}
