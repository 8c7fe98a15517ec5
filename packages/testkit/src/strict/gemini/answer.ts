import { z } from 'zod'
import { halves, type MessageOf, type StrictAnswer } from '../base/answer.ts'
import { parsedEvents, type SseEvent } from '../base/server.ts'
import type { GivenSignature } from './rules.ts'
import { WirePart } from './wire.ts'

/** A part of a scripted answer, with an optional signature. */
export type GeminiBlock =
  | { readonly type: 'thought' | 'text'; readonly text: string; readonly signature?: string }
  | {
      readonly type: 'call'
      readonly name: string
      readonly args: { readonly [key: string]: unknown }
      readonly signature?: string
    }

/** The usage that an answer of the Gemini API reports. */
export type GeminiUsage = { readonly promptTokenCount: number; readonly candidatesTokenCount: number }
/** A scripted answer of the Gemini API. */
export type GeminiAnswer = StrictAnswer<GeminiBlock, GeminiUsage>

/** Returns the chunks in which Gemini streams an answer. `number` makes its ids unique. */
export function chunksOf(
  { content, stopReason, usage = {} }: MessageOf<GeminiAnswer>,
  number: number,
  model: string,
): readonly object[] {
  const used = { promptTokenCount: 25, candidatesTokenCount: 15, ...usage }
  const usageMetadata = { ...used, totalTokenCount: used.promptTokenCount + used.candidatesTokenCount }
  const chunk = (parts: readonly WirePart[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata,
    modelVersion: model,
    responseId: `gemini_${number}`,
  })
  return [
    ...content.flatMap((block, index) => streamed(block, `${number}_${index}`).map((part) => chunk([part]))),
    chunk([{ text: '' }], { finishReason: stopReason ?? 'STOP' }),
  ]
}

/** Streams text in fragments, then its signature on a part without text. */
function streamed(block: GeminiBlock, id: string): readonly WirePart[] {
  const signed = block.signature === undefined ? {} : { thoughtSignature: block.signature }
  if (block.type === 'call') return [{ functionCall: { id, name: block.name, args: block.args }, ...signed }]
  const thought = block.type === 'thought' ? { thought: true } : {}
  const fragments = halves(block.text).map((text) => ({ text, ...thought }))
  // The signature of a thought is on its last fragment.
  if (block.type === 'thought')
    return fragments.map((part, n) => ({ ...part, ...(n === fragments.length - 1 && signed) }))
  return block.signature === undefined ? fragments : [...fragments, { text: '', ...signed }]
}

/** Returns what the service remembers of an answer, to check later requests. */
export const givenBy = ({ content }: MessageOf<GeminiAnswer>): readonly GivenSignature[] =>
  content.flatMap((block) =>
    block.signature === undefined ? [] : [{ signature: block.signature, part: partOf(block) }],
  )

const partOf = (block: GeminiBlock): WirePart =>
  block.type === 'call'
    ? { functionCall: { name: block.name, args: block.args } }
    : { text: block.text, thought: block.type === 'thought' }

const Chunk = z.object({
  candidates: z.array(z.object({ content: z.object({ parts: z.array(WirePart).default([]) }).optional() })),
})

/** Parses the signatures of a streamed answer, each with its part. Adjacent text of one kind is one part. */
export function givenInStream(events: readonly SseEvent[]): readonly GivenSignature[] {
  const signatures: GivenSignature[] = []
  let open: { text: string; readonly thought: boolean } | null = null
  const parts = parsedEvents(events, Chunk).flatMap(({ candidates }) => candidates[0]?.content?.parts ?? [])
  for (const { thoughtSignature: signature, functionCall, text = '', thought = false } of parts) {
    // A signature without text belongs to the text before it, thought or not.
    if (functionCall) open = null
    else if (open === null || (text !== '' && open.thought !== thought)) open = { text, thought }
    else open.text += text
    if (signature === undefined) continue
    signatures.push({ signature, part: functionCall ? { functionCall } : { ...open } })
  }
  return signatures
}
