import { z } from 'zod'
import { parsedEvents } from '../base/parsed-events.ts'
import type { SseEvent } from '../base/server.ts'
import type { GivenSignature } from './rules.ts'
import { WirePart } from './wire.ts'

const Chunk = z.object({
  candidates: z.array(z.object({ content: z.object({ parts: z.array(WirePart).default([]) }).optional() })),
})

/** The signatures of a streamed answer, each with the part it stood on. Words of one kind in a row are one part. */
export function heardIn(events: readonly SseEvent[]): readonly GivenSignature[] {
  const given: GivenSignature[] = []
  let words: { text: string; readonly thought: boolean } | null = null
  const parts = parsedEvents(events, Chunk).flatMap(({ candidates }) => candidates[0]?.content?.parts ?? [])
  for (const { thoughtSignature: signature, functionCall, text = '', thought = false } of parts) {
    // A signature without words belongs to the words before it, whatever they are.
    if (functionCall) words = null
    else if (words === null || (text !== '' && words.thought !== thought)) words = { text, thought }
    else words.text += text
    if (signature === undefined) continue
    given.push({ signature, part: functionCall ? { functionCall } : { ...words } })
  }
  return given
}
