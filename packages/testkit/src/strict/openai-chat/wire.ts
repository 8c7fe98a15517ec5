import { z } from 'zod'

/** Schemas of the part of OpenAI's Chat Completions API that an agent uses. */
const Text = z.object({ type: z.literal('text'), text: z.string() })
const Attached = z.discriminatedUnion('type', [
  z.object({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
  z.object({ type: z.literal('file'), file: z.looseObject({}) }),
])

export const WireToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
export type WireToolCall = z.infer<typeof WireToolCall>

export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: z.union([z.string(), z.array(Text)]) }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(z.union([Text, Attached]))]) }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(Text)]).nullish(),
    tool_calls: z.array(WireToolCall).optional(),
    /** Only in OpenAI-compatible services. */
    reasoning_content: z.string().optional(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: z.union([z.string(), z.array(Text)]) }),
])
export type ChatMessage = z.infer<typeof ChatMessage>

export const ChatRequest = z.object({
  model: z.string().min(1),
  stream: z.literal(true),
  messages: z.array(ChatMessage),
  reasoning_effort: z.string().nullish(),
  tools: z.array(z.object({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) })).optional(),
})
export type ChatRequest = z.infer<typeof ChatRequest>
