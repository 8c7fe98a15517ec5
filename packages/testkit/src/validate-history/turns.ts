import type { RequestMessage } from '@holdfast/core/ports'
import type { ProviderRules } from './providers.ts'

/** I11: a person begins, and where a service minds it, roles take turns and the model does not have the last word. */
export function turnsOf(messages: readonly RequestMessage[], { takesTurns }: ProviderRules): readonly string[] {
  const [first] = messages
  if (first === undefined) return ['I11: there is no message']
  const begins = first.role === 'user' ? [] : [`I11: the first message is of role ${first.role}, not user`]
  if (!takesTurns) return begins
  const meets = messages.flatMap(({ role }, index) =>
    role !== 'tool' && role === messages[index - 1]?.role ? [`I11: messages.${index}: two of role ${role} meet`] : [],
  )
  const last = messages.at(-1)?.role
  // Calls at the end are I1's business.
  const hasWord = last === 'assistant' && !hasCalls(messages.at(-1)) ? ['I11: the model has the last word'] : []
  return [...begins, ...meets, ...hasWord]
}

const hasCalls = (message: RequestMessage | undefined): boolean =>
  message?.role === 'assistant' && message.content.some(({ type }) => type === 'call')
