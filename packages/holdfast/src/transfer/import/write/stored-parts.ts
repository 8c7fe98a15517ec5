import { storeOutput } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import { type Content, limits, type Output, type Result, type StoredFile } from '@holdfast/protocol'
import type { CallResult, FileAttachment, ImportedMessage, ImportedPart, Remark } from '../parse/conversation.ts'
import { createPool } from './pool.ts'

/** What the long and the opaque of a conversation became, once it was stored. */
export interface Stored {
  contentOf(message: { readonly parts: readonly ImportedPart[] }): Content
  outputOf(result: CallResult): Output
}

export type StoreParts = {
  readonly blobs: Blobs
  readonly storeFile: (bytes: Uint8Array, name: string | undefined) => Promise<Result<StoredFile>>
}

/** So many are synced to the disk at once. */
const atOnce = 16

/** Stores files and long outputs ahead of the records that name them, several at once. */
export async function storeParts(
  messages: Iterable<ImportedMessage>,
  { blobs, storeFile }: StoreParts,
  remark: Remark,
): Promise<Stored> {
  const outputs = new Map<CallResult, Output>()
  const files = new Map<ImportedPart, Content[number] | null>()
  const pool = createPool(atOnce)
  for (const message of messages) {
    if (message.role === 'result' && isLong(message.text)) {
      await pool.run(async () => {
        const bytes = Buffer.from(message.text)
        const fits = bytes.length <= limits.blobBytesMax
        if (!fits) remark(message.line, 'file_dropped', 'A result too long to be kept whole was cut.')
        outputs.set(message, await storeOutput(blobs, [fits ? bytes : bytes.subarray(0, limits.blobBytesMax)]))
      })
    }
    for (const part of filesOf(message)) {
      await pool.run(async () => {
        const kept = await storeFile(part.bytes, part.name)
        if (!kept.ok) remark(message.line, 'file_dropped', `A file was left out: ${kept.fault.message}`)
        else if (kept.value.changed !== undefined)
          remark(message.line, 'file_changed', `A file was ${kept.value.changed}.`)
        files.set(part, kept.ok ? kept.value.file : null)
      })
    }
  }
  await pool.idle()
  return {
    outputOf: (result) => outputs.get(result) ?? { text: result.text },
    contentOf: ({ parts }) =>
      parts.flatMap((part) => {
        if (part.type === 'text') return part.text.trim() === '' ? [] : [part]
        return files.get(part) ?? []
      }),
  }
}

function filesOf(message: ImportedMessage): readonly FileAttachment[] {
  if (message.role === 'result') return message.files ?? []
  return message.role === 'user' ? message.parts.filter((part) => part.type === 'file') : []
}

const isLong = (text: string): boolean =>
  text.length > limits.toolOutputInlineBytesMax / 3 && Buffer.byteLength(text) > limits.toolOutputInlineBytesMax
