import { halves, type MessageOf, type StrictAnswer } from '../base/answer.ts'

/** A piece of a scripted answer. Text comes before calls, as the API has no other order. */
export type ChatBlock =
  | { readonly type: 'text'; readonly text: string }
  /** Sent only by OpenAI-compatible services, not by OpenAI. */
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string; readonly input: { readonly [key: string]: unknown } }
  /** A call whose arguments are sent unchanged, valid or not. */
  | { readonly type: 'raw_tool_call'; readonly name: string; readonly json: string }

/** The usage that an answer of the OpenAI chat API reports. */
export type ChatUsage = {
  /** Tokens of the request. */
  readonly prompt_tokens: number
  /** Tokens of the answer. */
  readonly completion_tokens: number
  /** Other counters of the server. */
  readonly [count: string]: unknown
}
/** A scripted answer of the OpenAI chat API. */
export type ChatAnswer = StrictAnswer<ChatBlock, ChatUsage>

/** Returns the chunks in which OpenAI streams a completion. `number` makes its ids unique. */
export function chunksOf(
  { content, stopReason, usage = {} }: MessageOf<ChatAnswer>,
  number: number,
): readonly object[] {
  const used = { prompt_tokens: 25, completion_tokens: 15, ...usage }
  const head = { id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: 'gpt' }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const calls = content.filter((block) => block.type === 'tool_call' || block.type === 'raw_tool_call')
  return [
    chunk({ role: 'assistant', content: '' }),
    ...content.flatMap((block) => {
      if (block.type === 'reasoning') return halves(block.text).map((text) => chunk({ reasoning_content: text }))
      return block.type === 'text' ? halves(block.text).map((text) => chunk({ content: text })) : []
    }),
    ...calls.flatMap((block, index) =>
      callChunks(block, index, `call_${number}_${index}`).map((delta) => chunk(delta)),
    ),
    chunk({}, stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    { ...head, choices: [], usage: { ...used, total_tokens: used.prompt_tokens + used.completion_tokens } },
  ]
}

function callChunks(
  block: Extract<ChatBlock, { readonly name: string }>,
  index: number,
  id: string,
): readonly object[] {
  const json = block.type === 'tool_call' ? JSON.stringify(block.input) : block.json
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name: block.name, arguments: '' } }] },
    ...halves(json).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]
}
