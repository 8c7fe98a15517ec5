import type { AssistantPart, RequestMessage } from '@holdfast/core/ports'

export type Call = Extract<AssistantPart, { readonly type: 'call' }>

export const isCall = (part: AssistantPart): part is Call => part.type === 'call'

export const callsOf = (message: RequestMessage): readonly Call[] =>
  message.role === 'assistant' ? message.content.filter(isCall) : []

export const duplicates = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.filter((id, index) => ids.indexOf(id) !== index)),
]
