import type { ModelRequest } from '@holdfast/core/ports'
import { contentOf, namePattern } from './content.ts'
import { opaqueOf } from './opaque.ts'
import { type HistoryProvider, providerRules } from './providers.ts'
import { duplicates, roundsOf, turnsOf } from './rounds.ts'

/**
 * What is wrong with a request to `provider`, by the rules it would hold us to (I1 to I5, I7 to I11, I19 and I20 of the
 * reliability reference), each complaint beginning with the name of its rule. Empty when nothing is. Written apart from
 * the builder, so that the two cannot share a mistake.
 */
export function validateHistory(provider: HistoryProvider, request: ModelRequest): readonly string[] {
  const { messages, tools } = request
  const held = providerRules[provider]
  return [
    ...turnsOf(messages, held),
    ...messages.flatMap((message, index) => contentOf(message, index, held)),
    ...roundsOf(messages),
    ...opaqueOf(request, held),
    ...tools.flatMap(({ name }) =>
      namePattern.test(name) ? [] : [`I20: tool name ${JSON.stringify(name)} is refused`],
    ),
    ...duplicates(tools.map(({ name }) => name)).map((name) => `I20: tool ${name} is offered twice`),
  ]
}
