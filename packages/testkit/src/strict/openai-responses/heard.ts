import { z } from 'zod'
import { parsedEvents } from '../base/parsed-events.ts'
import type { SseEvent } from '../base/server.ts'
import type { GivenItem } from './rules.ts'

const Done = z.object({
  type: z.literal('response.output_item.done'),
  item: z.object({ type: z.string(), id: z.string(), encrypted_content: z.string().nullish() }),
})

/** The items of a streamed answer that came to their end. */
export function heardIn(events: readonly SseEvent[]): readonly GivenItem[] {
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
