import { z } from 'zod'
import { halves, type MessageOf, type StrictAnswer } from '../base/answer.ts'
import { parsedEvents, type SseEvent } from '../base/server.ts'
import type { GivenItem } from './rules.ts'

/** An item of a scripted answer. */
export type ResponsesBlock =
  /** Each text is a part of the summary. The list may be empty. */
  | { readonly type: 'reasoning'; readonly summary: readonly string[]; readonly encrypted: string }
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'function_call'; readonly name: string; readonly input: { readonly [key: string]: unknown } }
  /** A call whose arguments are sent unchanged, valid or not. */
  | { readonly type: 'raw_function_call'; readonly name: string; readonly json: string }

/** The usage that an answer of the OpenAI responses API reports. */
export type ResponsesUsage = { readonly input_tokens: number; readonly output_tokens: number }
/** A scripted answer of the OpenAI responses API. */
export type ResponsesAnswer = StrictAnswer<ResponsesBlock, ResponsesUsage>
export type ResponsesEvent = { readonly type: string; readonly [key: string]: unknown }

const prefixes = { reasoning: 'rs', message: 'msg', function_call: 'fc', raw_function_call: 'fc' } as const
const idOf = ({ type }: ResponsesBlock, number: number, index: number) => `${prefixes[type]}_${number}_${index}`

/** Returns the events in which OpenAI streams a response. `number` makes its ids unique. */
export function eventsOf(
  { content, stopReason, usage = {} }: MessageOf<ResponsesAnswer>,
  number: number,
): readonly ResponsesEvent[] {
  const used = { input_tokens: 25, output_tokens: 15, ...usage }
  const response = { id: `resp_${number}`, object: 'response', created_at: 1_700_000_000, model: 'gpt' }
  const total_tokens = used.input_tokens + used.output_tokens
  const incomplete_details = stopReason === undefined ? null : { reason: stopReason }
  const events: readonly ResponsesEvent[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    ...content.flatMap((block, index) =>
      itemEvents(block, idOf(block, number, index), index, `call_${number}_${index}`),
    ),
    {
      type: stopReason === undefined ? 'response.completed' : 'response.incomplete',
      response: { ...response, incomplete_details, usage: { ...used, total_tokens } },
    },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function itemEvents(
  block: ResponsesBlock,
  id: string,
  output_index: number,
  call_id: string,
): readonly ResponsesEvent[] {
  const at = { item_id: id, output_index }
  const added = (item: object) => ({ type: 'response.output_item.added', output_index, item: { id, ...item } })
  const done = (item: object) => ({ type: 'response.output_item.done', output_index, item: { id, ...item } })
  switch (block.type) {
    case 'reasoning': {
      const summary = block.summary.map((text) => ({ type: 'summary_text', text }))
      return [
        // The added item differs from the final one, which clients must send back.
        added({ type: 'reasoning', summary: [], encrypted_content: `unfinished ${block.encrypted}` }),
        ...block.summary.flatMap((text, summary_index) => [
          {
            type: 'response.reasoning_summary_part.added',
            ...at,
            summary_index,
            part: { type: 'summary_text', text: '' },
          },
          ...halves(text).map((delta) => ({
            type: 'response.reasoning_summary_text.delta',
            ...at,
            summary_index,
            delta,
          })),
          { type: 'response.reasoning_summary_part.done', ...at, summary_index, part: { type: 'summary_text', text } },
        ]),
        done({ type: 'reasoning', summary, encrypted_content: block.encrypted }),
      ]
    }
    case 'message':
      return [
        added({ type: 'message', role: 'assistant', status: 'in_progress', content: [] }),
        ...halves(block.text).map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta })),
        done({
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: block.text, annotations: [] }],
        }),
      ]
    case 'function_call':
    case 'raw_function_call': {
      const json = block.type === 'function_call' ? JSON.stringify(block.input) : block.json
      const call = { type: 'function_call', call_id, name: block.name }
      return [
        added({ ...call, arguments: '', status: 'in_progress' }),
        ...halves(json).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
        done({ ...call, arguments: json, status: 'completed' }),
      ]
    }
  }
}

/** Returns what the service remembers of an answer, to check later requests. */
export const givenBy = ({ content }: MessageOf<ResponsesAnswer>, number: number): readonly GivenItem[] =>
  content.map((block, index) => {
    const before = content[index - 1]
    return {
      id: idOf(block, number, index),
      reasoning: before?.type === 'reasoning' ? idOf(before, number, index - 1) : null,
      encrypted: block.type === 'reasoning' ? block.encrypted : null,
    }
  })

const Done = z.object({
  type: z.literal('response.output_item.done'),
  item: z.object({ type: z.string(), id: z.string(), encrypted_content: z.string().nullish() }),
})

/** Parses the completed items of a streamed answer. */
export function givenInStream(events: readonly SseEvent[]): readonly GivenItem[] {
  const items = parsedEvents(events, Done).map(({ item }) => item)
  return items.map(({ type, id, encrypted_content: encrypted }, index) => {
    const before = items[index - 1]
    return {
      id,
      reasoning: before?.type === 'reasoning' ? before.id : null,
      encrypted: type === 'reasoning' ? (encrypted ?? null) : null,
    }
  })
}
