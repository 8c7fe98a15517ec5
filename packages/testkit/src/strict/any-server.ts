import type { HistoryProvider } from '../validate-history/providers.ts'
import type { AnswerBlock } from './anthropic/answer.ts'
import { startAnthropicServer } from './anthropic/server.ts'
import type { StrictAnswer } from './base/answer.ts'
import type { StrictServer } from './base/server.ts'
import type { GeminiBlock } from './gemini/answer.ts'
import { startGeminiServer } from './gemini/server.ts'
import type { ChatBlock } from './openai-chat/answer.ts'
import { startOpenAiChatServer } from './openai-chat/server.ts'
import type { ResponsesBlock } from './openai-responses/answer.ts'
import { startOpenAiResponsesServer } from './openai-responses/server.ts'

/** A piece of an answer that every service can give in its own form. `opaque` is what it wants back with it. */
export type AnyBlock =
  | { readonly type: 'think'; readonly text: string; readonly opaque: string }
  | { readonly type: 'say'; readonly text: string; readonly opaque?: string }
  | {
      readonly type: 'call'
      readonly tool: string
      readonly args: { readonly [key: string]: unknown }
      readonly opaque?: string
    }

/** What any of the strict servers can be told to do with a request, in words that all of them understand. */
export type AnyStrictAnswer = StrictAnswer<AnyBlock, never>
export type AnyStrictServer = Omit<StrictServer<unknown>, 'answer'> & {
  answer(...answers: readonly AnyStrictAnswer[]): void
}

type StrictService = {
  /** After how many events of an answer that begins with words the first of them are out. */
  readonly firstWords: number
  start(): Promise<AnyStrictServer>
}

async function started<Block>(
  start: () => Promise<StrictServer<StrictAnswer<Block, never>>>,
  blocksOf: (said: AnyBlock) => readonly Block[],
): Promise<AnyStrictServer> {
  const server = await start()
  const spoken = (answer: AnyStrictAnswer): StrictAnswer<Block, never> =>
    answer.type === 'message' ? { ...answer, content: answer.content.flatMap(blocksOf) } : answer
  return { ...server, answer: (...answers) => server.answer(...answers.map(spoken)) }
}

const signed = ({ opaque }: AnyBlock) => (opaque === undefined ? {} : { signature: opaque })

export const strictServices: Readonly<Record<HistoryProvider, StrictService>> = {
  anthropic: {
    firstWords: 4,
    start: () =>
      started<AnswerBlock>(startAnthropicServer, (said) => {
        if (said.type === 'think') return [{ type: 'thinking', thinking: said.text, signature: said.opaque }]
        if (said.type === 'say') return [{ type: 'text', text: said.text }]
        return [{ type: 'tool_use', name: said.tool, input: said.args }]
      }),
  },
  'openai-responses': {
    firstWords: 3,
    start: () =>
      started<ResponsesBlock>(startOpenAiResponsesServer, (said) => {
        if (said.type === 'think') return [{ type: 'reasoning', summary: said.text.split('|'), encrypted: said.opaque }]
        if (said.type === 'say') return [{ type: 'message', text: said.text }]
        return [{ type: 'function_call', name: said.tool, input: said.args }]
      }),
  },
  'openai-chat': {
    firstWords: 2,
    start: () =>
      started<ChatBlock>(startOpenAiChatServer, (said) => {
        if (said.type === 'think') return [] // this API keeps its reasoning to itself
        if (said.type === 'say') return [{ type: 'text', text: said.text }]
        return [{ type: 'tool_call', name: said.tool, input: said.args }]
      }),
  },
  gemini: {
    firstWords: 1,
    start: () =>
      started<GeminiBlock>(startGeminiServer, (said) => {
        if (said.type === 'think') return [{ type: 'thought', text: said.text, ...signed(said) }]
        if (said.type === 'say') return [{ type: 'text', text: said.text, ...signed(said) }]
        return [{ type: 'call', name: said.tool, args: said.args, ...signed(said) }]
      }),
  },
}
