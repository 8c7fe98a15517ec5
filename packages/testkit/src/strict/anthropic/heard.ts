import { z } from 'zod'
import { parsedEvents } from '../base/parsed-events.ts'
import type { SseEvent } from '../base/server.ts'
import type { GivenAnswer } from './rules.ts'
import type { ThinkingBlock } from './wire.ts'

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

/** The thinking and the calls of a streamed answer, of those blocks that came to their end. */
export function heardIn(events: readonly SseEvent[]): GivenAnswer {
  const open = new Map<number, Heard>()
  const whole: Heard[] = []
  for (const event of parsedEvents(events, z.union([Began, Went, Ended]))) {
    const heard = open.get(event.index)
    if (event.type === 'content_block_start')
      open.set(event.index, { block: event.content_block, thinking: '', signature: '', json: '' })
    else if (heard && event.type === 'content_block_stop') whole.push(heard)
    else if (heard && event.type === 'content_block_delta') {
      heard.thinking += event.delta.thinking
      heard.signature += event.delta.signature
      heard.json += event.delta.partial_json
    }
  }
  return { thinking: whole.flatMap(thinkingOf), uses: whole.flatMap(useOf) }
}

function thinkingOf({ block, thinking, signature }: Heard): readonly ThinkingBlock[] {
  if (block['type'] === 'thinking') return [{ type: 'thinking', thinking, signature }]
  return block['type'] === 'redacted_thinking' ? [{ type: 'redacted_thinking', data: String(block['data']) }] : []
}

const useOf = ({ block, json }: Heard): GivenAnswer['uses'] =>
  block['type'] === 'tool_use' ? [{ name: String(block['name']), input: JSON.parse(json || '{}') }] : []
