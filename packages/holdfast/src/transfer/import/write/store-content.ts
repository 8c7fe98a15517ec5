import { storeOutput } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import { type Content, limits, type Output, type Result, type StoredFile } from '@holdfast/protocol'
import type { CallResult, FileAttachment, ImportedMessage, ImportedPart, Remark } from '../parse/conversation.ts'
import { createPool } from './pool.ts'

/** The stored files and long outputs of a conversation. */
export interface StoredContent {
  contentOf(message: { readonly parts: readonly ImportedPart[] }): Content
  outputOf(result: CallResult): Output
}

type StoreContentDeps = {
  readonly blobs: Blobs
  readonly storeFile: (bytes: Uint8Array, name: string | undefined) => Promise<Result<StoredFile>>
}

/** The number of concurrent writes. */
const writesMax = 16

/** Stores files and long outputs before the records that refer to them, several at once. */
export async function storeContent(
  messages: Iterable<ImportedMessage>,
  { blobs, storeFile }: StoreContentDeps,
  remark: Remark,
): Promise<StoredContent> {
  const outputs = new Map<CallResult, Output>()
  const files = new Map<ImportedPart, Content[number] | null>()
  const pool = createPool(writesMax)
  for (const message of messages) {
    if (message.role === 'result' && isLong(message.text)) {
      await pool.run(async () => {
        const bytes = Buffer.from(message.text)
        const fits = bytes.length <= limits.blobBytesMax
        if (!fits) remark(message.line, 'file_dropped', 'A result was too long and was cut.')
        outputs.set(message, await storeOutput(blobs, [fits ? bytes : bytes.subarray(0, limits.blobBytesMax)]))
      })
    }
    for (const part of listFiles(message)) {
      await pool.run(async () => {
        const file = await storeFile(part.bytes, part.name)
        if (!file.ok) remark(message.line, 'file_dropped', `A file was left out: ${file.fault.message}`)
        else if (file.value.changed !== undefined)
          remark(message.line, 'file_changed', `A file was ${file.value.changed}.`)
        files.set(part, file.ok ? file.value.file : null)
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

function listFiles(message: ImportedMessage): readonly FileAttachment[] {
  if (message.role === 'result') return message.files ?? []
  return message.role === 'user' ? message.parts.filter((part) => part.type === 'file') : []
}

const isLong = (text: string): boolean =>
  text.length > limits.toolOutputInlineBytesMax / 3 && Buffer.byteLength(text) > limits.toolOutputInlineBytesMax
