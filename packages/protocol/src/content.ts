import { z } from 'zod'
import { BlobHash } from './id.ts'

export const TextPart = z.object({ type: z.literal('text'), text: z.string() })

/** A file part names its bytes by hash; the bytes are a blob, stored once. */
export const FilePart = z.object({
  type: z.literal('file'),
  blob: BlobHash,
  mediaType: z.string().max(100),
  name: z.string().max(255).optional(),
  bytes: z.int().min(0),
})

export const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart])
export type ContentPart = z.infer<typeof ContentPart>

export const Content = z.array(ContentPart).min(1)
export type Content = z.infer<typeof Content>

/** The words of a content, empty parts dropped, joined by a blank line. */
export const contentText = (content: Content): string =>
  content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n')

/** Prompts that waited, as one text for the input: empty ones dropped, joined by a blank line. */
export const combineQueueEntriesToText = (entries: readonly (string | { readonly content: Content })[]): string =>
  entries
    .map((entry) => (typeof entry === 'string' ? entry : contentText(entry.content)))
    .filter((text) => text !== '')
    .join('\n\n')
