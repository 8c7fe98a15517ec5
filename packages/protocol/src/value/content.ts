import { z } from 'zod'
import { fault, HoldfastError } from './fault.ts'
import { BlobHash } from './id.ts'
import { properMediaType } from './media-type.ts'

export const TextPart = z.object({ type: z.literal('text'), text: z.string() })

/** Refers to a file by the hash of its bytes; the bytes are a blob, stored once. */
export const FilePart = z.object({
  type: z.literal('file'),
  blob: BlobHash,
  mediaType: z.string().max(100).overwrite(properMediaType),
  name: z.string().max(255).optional(),
  bytes: z.int().min(0),
})

/** A stored file; its part can be used in a prompt. */
export const StoredFile = z.object({
  /** The part to use in a prompt. */
  file: FilePart,
  /** How it was changed, e.g. `downscaled from 6000x4000 to 1568x1045`. */
  changed: z.string().optional(),
})
export type StoredFile = z.infer<typeof StoredFile>

/** How to store a file. */
export const StoreFileOptions = z.strictObject({
  /** The name to show; none when absent. */
  name: FilePart.shape.name,
  /** False: in memory only, for a session that is not stored. */
  persist: z.boolean().optional(),
})
export type StoreFileOptions = z.input<typeof StoreFileOptions>

/** A part of a prompt: a text, or a file that was stored before. */
export const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart])
export type ContentPart = z.infer<typeof ContentPart>

export const Content = z.array(ContentPart).min(1)
export type Content = z.infer<typeof Content>

/** A prompt as a text, as its parts, or as an entry of the queue. */
export type QueuedPrompt =
  | string
  | readonly ContentPart[]
  | { readonly content: string | readonly ContentPart[]; readonly typed?: string | undefined }

/**
 * Joins queued prompts into one text for the input box, separated by blank lines, without empty ones. A file is named in
 * brackets, because text cannot hold it.
 */
export function combineQueueEntriesToText(entries: readonly QueuedPrompt[]): string {
  const parsed = QueuedPrompts.safeParse(entries)
  if (!parsed.success) throw new HoldfastError(fault('bad_request', 'Give a list of queued prompts.'))
  return parsed.data
    .flatMap((entry) => {
      if (typeof entry !== 'object' || !('content' in entry)) return partTexts(entry)
      const { content, typed } = entry
      if (typed === undefined || typeof content === 'string') return partTexts(content)
      return [typed, ...partTexts(content.filter(({ type }) => type === 'file'))] // as it was typed
    })
    .filter((text) => text !== '')
    .join('\n\n')
}

const PromptText = z.union([z.string(), z.array(ContentPart)])
const QueuedPrompts = z.array(z.union([PromptText, z.object({ content: PromptText, typed: z.string().optional() })]))

const partTexts = (content: string | readonly ContentPart[]): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : content.map((part) => (part.type === 'text' ? part.text : `[file ${part.name ?? part.mediaType}]`))

/**
 * The user message that is sent when there is none: between two answers, or after an interrupted one. Scripted models
 * recognize it.
 */
export const continueText = 'Continue.'
