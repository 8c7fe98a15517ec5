import { z } from 'zod'

/** Schemas of the part of Anthropic's Messages API that an agent uses. */
const Thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() })
const RedactedThinking = z.object({ type: z.literal('redacted_thinking'), data: z.string() })
const Text = z.object({ type: z.literal('text'), text: z.string() })
const ToolUse = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() })
const ToolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.unknown(),
  is_error: z.boolean().optional(),
})
const Attached = z.object({ type: z.enum(['image', 'document']), source: z.looseObject({ type: z.string() }) })

export const WireBlock = z.discriminatedUnion('type', [Thinking, RedactedThinking, Text, ToolUse, ToolResult, Attached])
export type WireBlock = z.infer<typeof WireBlock>

export const AnthropicMessage = z.object({ role: z.enum(['user', 'assistant']), content: z.array(WireBlock) })
export type AnthropicMessage = z.infer<typeof AnthropicMessage>

export const AnthropicRequest = z.object({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  stream: z.literal(true),
  messages: z.array(AnthropicMessage),
  system: z.unknown().optional(),
  tools: z
    .array(z.looseObject({ name: z.string(), input_schema: z.looseObject({ type: z.literal('object') }) }))
    .optional(),
  thinking: z.looseObject({ type: z.string() }).optional(),
})
export type AnthropicRequest = z.infer<typeof AnthropicRequest>

export type ThinkingBlock = Extract<WireBlock, { type: 'thinking' | 'redacted_thinking' }>
export const isThinking = (block: WireBlock): block is ThinkingBlock =>
  block.type === 'thinking' || block.type === 'redacted_thinking'
