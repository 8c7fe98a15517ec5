import { z } from 'zod'
import { contentText } from './content-text.ts'
import { BlobHash } from './id.ts'
import { properMediaType } from './media-type.ts'

export const TextPart = z.object({ type: z.literal('text'), text: z.string() })

/** A file part names its bytes by hash; the bytes are a blob, stored once. */
export const FilePart = z.object({
  type: z.literal('file'),
  blob: BlobHash,
  mediaType: z.string().max(100).overwrite(properMediaType),
  name: z.string().max(255).optional(),
  bytes: z.int().min(0),
})

/** A file that was stored: its part can stand in a prompt as it is. */
export const StoredFile = z.object({
  file: FilePart,
  /** What was done to it, e.g. `downscaled from 6000x4000 to 1568x1045`. */
  changed: z.string().optional(),
})
export type StoredFile = z.infer<typeof StoredFile>

export const StoreFileOptions = z.strictObject({
  name: FilePart.shape.name,
  /** False: in memory only, for a session that is not kept. */
  persist: z.boolean().optional(),
})
export type StoreFileOptions = z.input<typeof StoreFileOptions>

export const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart])
export type ContentPart = z.infer<typeof ContentPart>

export const Content = z.array(ContentPart).min(1)
export type Content = z.infer<typeof Content>

/** Prompts that waited, as one text for the input: empty ones dropped, joined by a blank line. */
export const combineQueueEntriesToText = (entries: readonly (string | { readonly content: Content })[]): string =>
  entries
    .map((entry) => (typeof entry === 'string' ? entry : contentText(entry.content)))
    .filter((text) => text !== '')
    .join('\n\n')

/**
 * What a model is told where nobody spoke: between two answers, or after a cut one. Built into requests, and known by
 * models that are scripts.
 */
export const continueText = 'Continue.'
