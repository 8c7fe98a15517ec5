import { z } from 'zod'
import { halves, type MessageOf, type StrictAnswer } from '../base/answer.ts'
import { parsedEvents, type SseEvent } from '../base/server.ts'
import type { GivenAnswer } from './rules.ts'
import type { ThinkingBlock } from './wire.ts'

/** A block of a scripted answer. */
export type AnswerBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: { readonly [key: string]: unknown } }
  /** A call whose arguments are sent unchanged, valid or not. */
  | { readonly type: 'raw_tool_use'; readonly name: string; readonly json: string }

/** Usage in the terms of Anthropic's API. */
export type WireUsage = {
  /** Tokens sent. */
  readonly input_tokens: number
  /** Tokens of the answer. */
  readonly output_tokens: number
  /** Tokens read from the cache. */
  readonly cache_read_input_tokens: number
  /** Tokens written to the cache. */
  readonly cache_creation_input_tokens: number
}

/** The server's reaction to one request. */
export type AnthropicAnswer = StrictAnswer<AnswerBlock, WireUsage>

export type AnthropicEvent = { readonly type: string; readonly [key: string]: unknown }
type Message = MessageOf<AnthropicAnswer>

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}
export const errorTypeOf = (status: number): string => errorTypes[status] ?? 'api_error'

/** Returns the events in which Anthropic streams a message. `number` makes its ids unique. */
export function eventsOf({ content, stopReason, usage = {} }: Message, number: number): readonly AnthropicEvent[] {
  const used: WireUsage = {
    input_tokens: 25,
    output_tokens: 15,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...usage,
  }
  const id = `msg_${number}`
  const start = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    usage: { ...used, output_tokens: 1 },
  }
  const calls = content.some(({ type }) => type === 'tool_use' || type === 'raw_tool_use')
  const delta = { stop_reason: stopReason ?? (calls ? 'tool_use' : 'end_turn'), stop_sequence: null }
  return [
    { type: 'message_start', message: start },
    { type: 'ping' },
    ...content.flatMap((block, index) => blockEvents(block, index, `toolu_${number}_${index}`)),
    { type: 'message_delta', delta, usage: { output_tokens: used.output_tokens } },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: AnswerBlock, index: number, id: string): readonly AnthropicEvent[] {
  const start = (content_block: object) => ({ type: 'content_block_start', index, content_block })
  const delta = (delta: object) => ({ type: 'content_block_delta', index, delta })
  const stop = { type: 'content_block_stop', index }
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...halves(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'redacted_thinking':
      return [start(block), stop]
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...halves(block.text).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    case 'tool_use':
    case 'raw_tool_use': {
      const json = block.type === 'tool_use' ? JSON.stringify(block.input) : block.json
      return [
        start({ type: 'tool_use', id, name: block.name, input: {} }),
        ...['', ...halves(json)].map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
    }
  }
}

/** Returns what the service remembers of an answer, to check later requests. */
export const givenBy = ({ content }: Message): GivenAnswer => ({
  thinking: content.flatMap((block): readonly ThinkingBlock[] => {
    if (block.type === 'thinking') return [{ type: 'thinking', thinking: block.thinking, signature: block.signature }]
    return block.type === 'redacted_thinking' ? [{ type: 'redacted_thinking', data: block.data }] : []
  }),
  uses: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
})

const Began = z.object({
  type: z.literal('content_block_start'),
  index: z.int(),
  content_block: z.looseObject({ type: z.string() }),
})
const Went = z.object({
  type: z.literal('content_block_delta'),
  index: z.int(),
  delta: z.object({
    thinking: z.string().default(''),
    signature: z.string().default(''),
    partial_json: z.string().default(''),
  }),
})
const Ended = z.object({ type: z.literal('content_block_stop'), index: z.int() })

type Heard = { readonly block: { readonly [key: string]: unknown }; thinking: string; signature: string; json: string }

/** Parses the thinking and calls of a streamed answer; only completed blocks count. */
export function givenInStream(events: readonly SseEvent[]): GivenAnswer {
  const open = new Map<number, Heard>()
  const complete: Heard[] = []
  for (const event of parsedEvents(events, z.union([Began, Went, Ended]))) {
    const block = open.get(event.index)
    if (event.type === 'content_block_start')
      open.set(event.index, { block: event.content_block, thinking: '', signature: '', json: '' })
    else if (block && event.type === 'content_block_stop') complete.push(block)
    else if (block && event.type === 'content_block_delta') {
      block.thinking += event.delta.thinking
      block.signature += event.delta.signature
      block.json += event.delta.partial_json
    }
  }
  return { thinking: complete.flatMap(thinkingOf), uses: complete.flatMap(useOf) }
}

function thinkingOf({ block, thinking, signature }: Heard): readonly ThinkingBlock[] {
  if (block['type'] === 'thinking') return [{ type: 'thinking', thinking, signature }]
  return block['type'] === 'redacted_thinking' ? [{ type: 'redacted_thinking', data: String(block['data']) }] : []
}

const useOf = ({ block, json }: Heard): GivenAnswer['uses'] =>
  block['type'] === 'tool_use' ? [{ name: String(block['name']), input: JSON.parse(json || '{}') }] : []
