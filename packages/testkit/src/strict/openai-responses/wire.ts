import { z } from 'zod'

/** Schemas of the part of OpenAI's Responses API that an agent uses. */
const Content = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['input_text', 'output_text']), text: z.string() }),
  z.looseObject({ type: z.literal('input_image') }),
  z.looseObject({ type: z.literal('input_file') }),
])

const Message = z.object({
  type: z.literal('message').optional(),
  id: z.string().optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(Content)]),
})
const Reasoning = z.object({
  type: z.literal('reasoning'),
  id: z.string().optional(),
  encrypted_content: z.string().nullish(),
  summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
})
const FunctionCall = z.object({
  type: z.literal('function_call'),
  id: z.string().optional(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
})
const FunctionCallOutput = z.object({
  type: z.literal('function_call_output'),
  id: z.string().optional(),
  call_id: z.string(),
  output: z.union([z.string(), z.array(Content)]),
})
const ItemReference = z.object({ type: z.literal('item_reference'), id: z.string() })

export const WireItem = z.union([Reasoning, FunctionCall, FunctionCallOutput, ItemReference, Message])
export type WireItem = z.infer<typeof WireItem>
export type ResponsesMessage = z.infer<typeof Message>
export type WireCall = z.infer<typeof FunctionCall>
export type WireReasoning = z.infer<typeof Reasoning>

export const isMessage = (item: WireItem): item is ResponsesMessage => 'role' in item
export const isReasoning = (item: WireItem): item is WireReasoning => item.type === 'reasoning'

export const ResponsesRequest = z.object({
  model: z.string().min(1),
  stream: z.literal(true),
  input: z.array(WireItem),
  store: z.boolean().optional(),
  include: z.array(z.string()).optional(),
  previous_response_id: z.string().optional(),
  tools: z.array(z.looseObject({ type: z.literal('function'), name: z.string() })).optional(),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>
