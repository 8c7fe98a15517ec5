import type { Content } from '../value/content.ts'
import type { BlobHash } from '../value/id.ts'
import type { Event } from './event.ts'

/** The events that can refer to blobs, for whoever picks them out of many. */
export const blobEventTypes = [
  'context.changed',
  'user.said',
  'prompt.queued',
  'queue.edited',
  'queue.removed',
  'call.settled',
] as const satisfies readonly Event['type'][]

/** The blobs an event refers to: they are kept for as long as its record is. */
export function blobsOf(event: Event): readonly BlobHash[] {
  switch (event.type) {
    case 'context.changed':
      return [event.system, event.tools]
    case 'user.said':
    case 'prompt.queued':
    case 'queue.edited':
      return filesIn(event.content)
    case 'queue.removed':
      return event.entries.flatMap(({ content }) => filesIn(content))
    case 'call.settled': {
      const blob = 'output' in event.outcome ? event.outcome.output?.blob : undefined
      return blob ? [blob.hash] : []
    }
    default:
      return []
  }
}

const filesIn = (content: Content): readonly BlobHash[] =>
  content.flatMap((part) => (part.type === 'file' ? [part.blob] : []))
