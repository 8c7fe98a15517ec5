import type { Event } from '@holdfast/protocol'
import { searchedText } from '../../search/searched-event.ts'
import { eventOf } from './call-tool.ts'

/** The event of a stored body with the words it is found by; null where it is damaged, which may still be JSON. */
export function searchedBody(body: unknown): { readonly event: Event; readonly text: string } | null {
  const event = eventOf(body)
  try {
    return event === null ? null : { event, text: searchedText(event) }
  } catch {
    return null
  }
}
