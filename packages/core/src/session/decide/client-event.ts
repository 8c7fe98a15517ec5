import type { AppendClientEvent, Event } from '@holdfast/protocol'

/** Beside the line, whatever the session does: no model hears of it. */
export const appendClientEvent = ({ event, complete }: AppendClientEvent): readonly Event[] => [
  { type: 'client.said', event, ...(complete && { complete: true as const }) },
]
