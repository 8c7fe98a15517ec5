import type { ModelRequest } from '@holdfast/core/ports'
import { contentOf, namePattern } from './content.ts'
import { opaqueProblems } from './opaque.ts'
import { type HistoryProvider, providerRules } from './providers.ts'
import { duplicates, roundsOf, turnsOf } from './rounds.ts'

/**
 * Returns the violations in a request to `provider` of the rules I1 to I5, I7 to I11, I19 and I20, each with the name of its
 * rule. It shares no code with the request builder, so that a mistake in one is found by the other.
 */
export function validateHistory(provider: HistoryProvider, request: ModelRequest): readonly string[] {
  const { messages, tools } = request
  const held = providerRules[provider]
  return [
    ...turnsOf(messages, held),
    ...messages.flatMap((message, index) => contentOf(message, index, held)),
    ...roundsOf(messages),
    ...opaqueProblems(request, held),
    ...tools.flatMap(({ name }) =>
      namePattern.test(name) ? [] : [`I20: tool name ${JSON.stringify(name)} is refused`],
    ),
    ...duplicates(tools.map(({ name }) => name)).map((name) => `I20: tool ${name} is offered twice`),
  ]
}
