import type { z } from 'zod'
import type { SseEvent } from './server.ts'

/** The events that a schema knows, in order. Of a stream that was cut the last may be no JSON: it was never heard. */
export const parsedEvents = <Schema extends z.ZodType>(
  events: readonly SseEvent[],
  schema: Schema,
): readonly z.infer<Schema>[] =>
  events.flatMap(({ data }) => {
    const parsed = schema.safeParse(jsonOf(data))
    return parsed.success ? [parsed.data] : []
  })

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
