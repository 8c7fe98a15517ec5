import { Event, eventVersion, Frame, Recorded } from '@holdfast/protocol'
import type { z } from 'zod'

/** An event as a test writes it down: plain numbers and strings. */
export type Given = z.input<typeof Event>

type More = Partial<Pick<z.input<typeof Recorded>, 'at' | 'by' | 'commandId'>>

/** An event as the log holds it. */
export function aRecord(seq: number, given: Given, more: More = {}): Recorded {
  const event = Event.parse(given)
  return Recorded.parse({ seq, at: '2026-01-01T00:00:00.000Z', v: eventVersion[event.type], ...more, event })
}

type Unaddressed<One> = One extends unknown ? Omit<One, 'sessionId'> : never

/** A frame of the session that `aMeta` shows. */
export const aFrame = (given: Unaddressed<z.input<typeof Frame>>): Frame =>
  Frame.parse({ sessionId: 'ses_01k5zzzzzzzzzzzzzzzzzzzzzz', ...given })
