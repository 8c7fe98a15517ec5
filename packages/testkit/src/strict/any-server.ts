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

/** A block of an answer, for any service. `opaque` is data that the service expects back with it. */
export type AnyBlock =
  | { readonly type: 'think'; readonly text: string; readonly opaque: string }
  | { readonly type: 'say'; readonly text: string; readonly opaque?: string }
  | {
      readonly type: 'call'
      readonly tool: string
      readonly args: { readonly [key: string]: unknown }
      readonly opaque?: string
    }

/** The reaction to one request, in a form that all strict servers support. */
export type AnyStrictAnswer = StrictAnswer<AnyBlock, never>
/** Any of the fake servers, with the same answers for all. */
export type AnyStrictServer = Omit<StrictServer<unknown>, 'answer'> & {
  /** Adds answers to the end of the script. */
  answer(...answers: readonly AnyStrictAnswer[]): void
}

/** A fake service that a test can start. */
export type StrictService = {
  /** The number of events until the first text of an answer is sent. */
  readonly firstWords: number
  /** Starts a server of this service. */
  start(): Promise<AnyStrictServer>
}

async function started<Block>(
  start: () => Promise<StrictServer<StrictAnswer<Block, never>>>,
  blocksOf: (block: AnyBlock) => readonly Block[],
): Promise<AnyStrictServer> {
  const server = await start()
  const toAnswer = (answer: AnyStrictAnswer): StrictAnswer<Block, never> =>
    answer.type === 'message' ? { ...answer, content: answer.content.flatMap(blocksOf) } : answer
  return { ...server, answer: (...answers) => server.answer(...answers.map(toAnswer)) }
}

const signed = ({ opaque }: AnyBlock) => (opaque === undefined ? {} : { signature: opaque })

/** The fake server of each API. */
export const strictServices: Readonly<Record<HistoryProvider, StrictService>> = {
  anthropic: {
    firstWords: 4,
    start: () =>
      started<AnswerBlock>(startAnthropicServer, (block) => {
        if (block.type === 'think') return [{ type: 'thinking', thinking: block.text, signature: block.opaque }]
        if (block.type === 'say') return [{ type: 'text', text: block.text }]
        return [{ type: 'tool_use', name: block.tool, input: block.args }]
      }),
  },
  'openai-responses': {
    firstWords: 3,
    start: () =>
      started<ResponsesBlock>(startOpenAiResponsesServer, (block) => {
        if (block.type === 'think')
          return [{ type: 'reasoning', summary: block.text.split('|'), encrypted: block.opaque }]
        if (block.type === 'say') return [{ type: 'message', text: block.text }]
        return [{ type: 'function_call', name: block.tool, input: block.args }]
      }),
  },
  'openai-chat': {
    firstWords: 2,
    start: () =>
      started<ChatBlock>(startOpenAiChatServer, (block) => {
        if (block.type === 'think') return [] // this API does not return its reasoning
        if (block.type === 'say') return [{ type: 'text', text: block.text }]
        return [{ type: 'tool_call', name: block.tool, input: block.args }]
      }),
  },
  gemini: {
    firstWords: 1,
    start: () =>
      started<GeminiBlock>(startGeminiServer, (block) => {
        if (block.type === 'think') return [{ type: 'thought', text: block.text, ...signed(block) }]
        if (block.type === 'say') return [{ type: 'text', text: block.text, ...signed(block) }]
        return [{ type: 'call', name: block.tool, args: block.args, ...signed(block) }]
      }),
  },
}
