import type { ModelRequest } from '@holdfast/core/ports'
import type { ModelContext, State } from './state.ts'
import { at, type Key } from './tree.ts'

// Describes the expected and the real request as lists of strings, to compare them.

const quoteOf = (state: State, key: Key): string => {
  const { said } = at(state, key)
  if (said.who === 'user') return `[user] ${said.text}`
  if (said.who === 'agent') return `[assistant] ${said.text}`
  return said.who === 'call' ? `[tool ${said.tool}] ${said.args}` : '?'
}

/** Describes the request for the next answer of a turn. */
export function expectedWords(
  state: State,
  { by, summary, pinned, prompt, messages }: ModelContext,
): readonly string[] {
  const rounds = Map.groupBy(messages, (key) => at(state, key).round ?? `alone ${key}`)
  return [
    by,
    ...(summary === '' ? [] : [`summary: ${summary}`]),
    ...pinned.map((key) => `pinned: ${quoteOf(state, key)}`),
    ...(prompt === null ? [] : partOf(state, prompt)),
    ...[...rounds.values()].flatMap((keys) => [
      ...keys.flatMap((key) => partOf(state, key)),
      ...keys.flatMap((key) => resultOf(state, key)),
    ]),
  ]
}

function partOf(state: State, key: Key): readonly string[] {
  const { said, id } = at(state, key)
  if (said.who === 'user') return [`user: ${said.text}`]
  if (said.who === 'agent') return [`agent: ${said.text}`]
  return said.who === 'call' ? [`call c${id}: ${said.tool} ${said.args}`] : []
}

function resultOf(state: State, key: Key): readonly string[] {
  const { said, id } = at(state, key)
  return said.who === 'call' ? [`result c${id}: ${said.status === 'complete' ? 'well' : 'not well'}`] : []
}

export const sentWords = ({ model, thinkingLevel, messages }: ModelRequest): readonly string[] => [
  `${model} ${thinkingLevel}`,
  ...messages.flatMap((message): readonly string[] => {
    if (message.role === 'tool')
      return message.content.map(({ id, isError }) => `result ${id}: ${isError ? 'not well' : 'well'}`)
    if (message.role === 'user')
      return message.content.flatMap((part) => (part.type === 'text' ? userWords(part.text) : [part.type]))
    return message.content.map((part) =>
      part.type === 'call' ? `call ${part.id}: ${part.tool} ${JSON.stringify(part.args)}` : `agent: ${part.text}`,
    )
  }),
]

const headings = {
  summary: 'Summary of the conversation so far:\n\n',
  pinned: 'Pinned messages from it, as they were said:\n\n',
}

/** Filler between two answers, which some services require, is ignored. */
function userWords(text: string): readonly string[] {
  if (text === 'Continue.') return []
  if (!Object.values(headings).some((heading) => text.startsWith(heading))) return [`user: ${text}`]
  const [before = '', quoted] = text.split(headings.pinned)
  const summary = before.replace(headings.summary, '').trim()
  return [
    ...(summary === '' ? [] : [`summary: ${summary}`]),
    ...(quoted === undefined ? [] : quotesIn(quoted).map((one) => `pinned: ${one}`)),
  ]
}

/** Describes a call without its result, which is listed separately. */
const quotesIn = (text: string): readonly string[] => text.split('\n\n').map((one) => one.split('\n')[0] ?? '')

/** Describes the request for a summary. */
export function expectedSummaryWords(state: State, { by, summary, prompt, messages }: ModelContext): readonly string[] {
  return [
    by,
    ...(summary === '' ? [] : [`[summary of earlier parts] ${summary}`]),
    ...(prompt === null ? [] : [quoteOf(state, prompt)]),
    ...messages.map((key) => quoteOf(state, key)),
  ]
}

export function sentSummaryWords({ model, thinkingLevel, messages }: ModelRequest): readonly string[] {
  const text = messages.flatMap(({ content }) => content.map((part) => ('text' in part ? part.text : ''))).join('')
  const conversation = /^<conversation>\n([\s\S]*)\n<\/conversation>/.exec(text)?.[1] ?? '?'
  return [`${model} ${thinkingLevel}`, ...quotesIn(conversation).filter((one) => one !== '')]
}
