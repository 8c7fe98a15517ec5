import { z } from 'zod'

/** Schemas of the part of Gemini's API that an agent uses. Unknown fields of a part are allowed. */
const FunctionCall = z.object({ id: z.string().optional(), name: z.string(), args: z.unknown() })
const FunctionResponse = z.object({
  id: z.string().optional(),
  name: z.string(),
  response: z.record(z.string(), z.unknown()),
})

export const WirePart = z.object({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).optional(),
  functionCall: FunctionCall.optional(),
  functionResponse: FunctionResponse.optional(),
})
export type WirePart = z.infer<typeof WirePart>

export const WireContent = z.object({ role: z.string(), parts: z.array(WirePart) })
export type WireContent = z.infer<typeof WireContent>

export const GeminiRequest = z.object({
  contents: z.array(WireContent),
  systemInstruction: z.object({ parts: z.array(WirePart) }).optional(),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }))
    .optional(),
})
export type GeminiRequest = z.infer<typeof GeminiRequest>
