import type { Blobs, Log, ModelRequest, RequestAsked } from '@holdfast/core/ports'
import { createRequestBuilder, WindowDamaged } from '@holdfast/core/requests'
import { type Fault, fault, HoldfastError, orThrow } from '@holdfast/protocol'
import { openFileBlobs } from '../../store/blobs/file-blobs.ts'
import { createReadMethods } from '../../store/sqlite/read/read-methods.ts'
import { openReader, type Reader } from '../../store/sqlite/read/reader.ts'

/** Where the thread reads: the store's file, and the directory of its blobs. */
export type RequestSource = { readonly path: string; readonly blobsDir: string }

/** A question with its number. Null is the last: what is under way is answered, and the thread ends. */
export type ToThread = { readonly number: number; readonly asked: RequestAsked } | null

/** `up` once all is loaded; then an answer for each question, in any order. */
export type FromThread = 'up' | { readonly number: number; readonly built: Built }

export type Built =
  | { readonly type: 'built'; readonly request: ModelRequest }
  | { readonly type: 'damaged'; readonly seq: number }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** Nobody foresaw it: our bug. */
  | { readonly type: 'broken'; readonly why: string }

/** What came of a question, and the memory that goes over with it rather than being copied. */
type Answer = { readonly built: Built; readonly moved: ArrayBuffer[] }

/** Puts requests together from a store's file and its blobs. It never throws: what goes wrong is an answer. */
export function createBuilder({ path, blobsDir }: RequestSource) {
  let reader: Reader | null = null
  let blobs: Blobs | null = null

  /** Opened by the first question, and by the next if it could not be. */
  const open = (): Reader => {
    reader ??= orThrow(openReader(path))
    if (reader === null) throw new HoldfastError(fault('storage_error', `The store ${path} is gone.`, { path }))
    return reader
  }
  const log: Pick<Log, 'read' | 'readRefs'> = createReadMethods((name, ...args) => open().ask(name, ...args))
  const requests = createRequestBuilder(log, {
    async open(hash) {
      blobs ??= orThrow(await openFileBlobs(blobsDir))
      return blobs.open(hash)
    },
  })

  return {
    async build(asked: RequestAsked): Promise<Answer> {
      try {
        const request = await requests.build(asked)
        return { built: { type: 'built', request }, moved: bytesOf(request) }
      } catch (cause) {
        return { built: whyNot(cause), moved: [] }
      }
    },
    close: () => reader?.close(),
  }
}

function whyNot(cause: unknown): Built {
  if (cause instanceof WindowDamaged) return { type: 'damaged', seq: cause.seq }
  if (cause instanceof HoldfastError) return { type: 'failed', fault: cause.toFault() }
  return { type: 'broken', why: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
}

/** The memory of the files, each once: the same file may be told of in several messages. */
function bytesOf({ messages }: ModelRequest): ArrayBuffer[] {
  const buffers = messages.flatMap(({ role, content }) =>
    role === 'user' ? content.flatMap((part) => (part.type === 'file' ? [part.bytes.buffer] : [])) : [],
  )
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer)
}
