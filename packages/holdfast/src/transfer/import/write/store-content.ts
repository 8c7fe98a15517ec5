import { storeOutput } from '@holdfast/core'
import { type Content, limits, type Output } from '@holdfast/protocol'
import type { ImportHost } from '../host/import-host.ts'
import type { CallResult, FileAttachment, ImportedMessage, ImportedPart, Remark } from '../parse/conversation.ts'
import { createPool } from './pool.ts'

/** The stored files and long outputs of a conversation. */
export interface StoredContent {
  contentOf(message: { readonly parts: readonly ImportedPart[] }): Content
  outputOf(result: CallResult): Output
}

type StoreContentDeps = Pick<ImportHost, 'putBlob' | 'storeFile'>

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** The number of concurrent writes. */
const writesMax = 16
/** A long output is hashed and written in pieces of this size. */
const pieceBytes = 256 * 1024

/** Stores files and long outputs before the records that refer to them. Waits only if there are any. */
export function storeContent(
  messages: Iterable<ImportedMessage>,
  deps: StoreContentDeps,
  remark: Remark,
): StoredContent | Promise<StoredContent> {
  for (const message of messages)
    if ((message.role === 'result' && isLong(message.text)) || hasFiles(message))
      return storeAll(messages, deps, remark)
  return createStoredContent(new Map(), new Map())
}

/** Stores several at once. */
async function storeAll(
  messages: Iterable<ImportedMessage>,
  { putBlob, storeFile }: StoreContentDeps,
  remark: Remark,
): Promise<StoredContent> {
  const outputs = new Map<CallResult, Output>()
  const files = new Map<ImportedPart, Content[number] | null>()
  const pool = createPool(writesMax)
  const blobs = { put: async (given: Bytes) => putBlob(await Array.fromAsync(given)) }
  for (const message of messages) {
    if (message.role === 'result' && isLong(message.text)) {
      await pool.run(async () => {
        const bytes = Buffer.from(message.text)
        const fits = bytes.length <= limits.blobBytesMax
        if (!fits) remark(message.line, 'file_dropped', 'A result was too long and was cut.')
        outputs.set(message, await storeOutput(blobs, cut(fits ? bytes : bytes.subarray(0, limits.blobBytesMax))))
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
  return createStoredContent(outputs, files)
}

const createStoredContent = (
  outputs: ReadonlyMap<CallResult, Output>,
  files: ReadonlyMap<ImportedPart, Content[number] | null>,
): StoredContent => ({
  outputOf: (result) => outputs.get(result) ?? { text: result.text },
  contentOf: ({ parts }) =>
    parts.flatMap((part) => {
      if (part.type === 'text') return part.text.trim() === '' ? [] : [part]
      return files.get(part) ?? []
    }),
})

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

function listFiles(message: ImportedMessage): readonly FileAttachment[] {
  if (message.role === 'result') return message.files ?? []
  return message.role === 'user' ? message.parts.filter((part) => part.type === 'file') : []
}

const hasFiles = (message: ImportedMessage): boolean => {
  if (message.role === 'result') return message.files !== undefined && message.files.length > 0
  return message.role === 'user' && message.parts.some((part) => part.type === 'file')
}

const isLong = (text: string): boolean =>
  text.length > limits.toolOutputInlineBytesMax / 3 && Buffer.byteLength(text) > limits.toolOutputInlineBytesMax
