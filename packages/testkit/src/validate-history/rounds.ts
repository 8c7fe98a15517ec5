import type { AssistantPart, RequestMessage } from '@holdfast/core/ports'
import type { ProviderRules } from './providers.ts'

/** I11: the user starts. If the service requires it, roles alternate and the model's message is not the last. */
export function turnsOf(messages: readonly RequestMessage[], { takesTurns }: ProviderRules): readonly string[] {
  const [first] = messages
  if (first === undefined) return ['I11: there is no message']
  const begins = first.role === 'user' ? [] : [`I11: the first message is of role ${first.role}, not user`]
  if (!takesTurns) return begins
  const meets = messages.flatMap(({ role }, index) =>
    role !== 'tool' && role === messages[index - 1]?.role ? [`I11: messages.${index}: two of role ${role} meet`] : [],
  )
  const last = messages.at(-1)?.role
  // Calls at the end are checked by I1.
  const endsWithModel =
    last === 'assistant' && !hasCalls(messages.at(-1)) ? ["I11: the last message is the model's"] : []
  return [...begins, ...meets, ...endsWithModel]
}

const hasCalls = (message: RequestMessage | undefined): boolean =>
  message?.role === 'assistant' && message.content.some(({ type }) => type === 'call')

type Call = Extract<AssistantPart, { readonly type: 'call' }>

export const isCall = (part: AssistantPart): part is Call => part.type === 'call'

const callsOf = (message: RequestMessage): readonly Call[] =>
  message.role === 'assistant' ? message.content.filter(isCall) : []

export const duplicates = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.filter((id, index) => ids.indexOf(id) !== index)),
]

/** I1 to I5: each call has one result, in call order, in the next message, and each result has a call. */
export const roundsOf = (messages: readonly RequestMessage[]): readonly string[] => [
  ...messages.flatMap((message, index) => [
    ...roundAfter(callsOf(message), messages[index + 1], index),
    ...(message.role === 'tool' ? resultsAfter(message, messages[index - 1], index) : []),
  ]),
  ...duplicates(messages.flatMap(callsOf).map(({ id }) => id)).map((id) => `I4: call id ${id} is used twice`),
]

function roundAfter(calls: readonly Call[], next: RequestMessage | undefined, index: number): readonly string[] {
  if (calls.length === 0) return []
  if (next?.role !== 'tool') {
    const rule = next === undefined ? 'I1' : 'I5'
    return [
      `${rule}: messages.${index}: calls ${calls.map(({ id }) => id).join(', ')} are not followed by their results`,
    ]
  }
  const answered = next.content.map(({ id }) => id)
  const missing = calls.filter(({ id }) => !answered.includes(id))
  const order = [...new Set(calls.map(({ id }) => id))].filter((id) => answered.includes(id))
  const given = [...new Set(answered)].filter((id) => order.includes(id))
  return [
    ...missing.map(({ id }) => `I1: messages.${index}: call ${id} has no result`),
    ...(order.join() === given.join() ? [] : [`I1: messages.${index + 1}: results are not in call order`]),
  ]
}

type ToolMessage = Extract<RequestMessage, { readonly role: 'tool' }>

function resultsAfter({ content }: ToolMessage, before: RequestMessage | undefined, index: number): readonly string[] {
  const calls = before === undefined ? [] : callsOf(before)
  return [
    ...content
      .filter(({ id }) => !calls.some((call) => call.id === id))
      .map(({ id }) => `I2: messages.${index}: result ${id} has no call in the message before`),
    ...duplicates(content.map(({ id }) => id)).map((id) => `I3: messages.${index}: call ${id} has two results`),
  ]
}
