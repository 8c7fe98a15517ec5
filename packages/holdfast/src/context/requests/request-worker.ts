import { parentPort, workerData } from 'node:worker_threads'
import type { Blobs, Log, ModelRequest, RequestAsked } from '@holdfast/core/ports'
import { createRequestBuilder, WindowDamaged } from '@holdfast/core/requests'
import { type Fault, fault, HoldfastError, orThrow } from '@holdfast/protocol'
import { openFileBlobs } from '../../store/blobs/file-blobs.ts'
import { createReadMethods } from '../../store/sqlite/read/read-methods.ts'
import { openReader, type Reader } from '../../store/sqlite/read/reader.ts'

/** Where the thread reads: the store's file and its blob directory. */
export type RequestSource = { readonly path: string; readonly blobsDir: string }

/** A numbered request. Null closes the thread once running requests are answered. */
export type ToThread = { readonly number: number; readonly asked: RequestAsked } | null

/** `up` once the thread is loaded, then an answer for each request, in any order. */
export type FromThread = 'up' | { readonly number: number; readonly built: Built }

export type Built =
  | { readonly type: 'built'; readonly request: ModelRequest }
  | { readonly type: 'damaged'; readonly seq: number }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** Unexpected: our bug. */
  | { readonly type: 'broken'; readonly why: string }

/** Builds model requests from a store's file and its blobs. Never throws: a failure is an answer. */
function createBuilder({ path, blobsDir }: RequestSource) {
  let reader: Reader | null = null
  let blobs: Blobs | null = null

  /** Opens the reader on first use, and tries again if that failed. */
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
    /** Returns the answer, and the buffers that are transferred with it instead of copied. */
    async build(asked: RequestAsked): Promise<{ built: Built; moved: ArrayBuffer[] }> {
      try {
        const request = await requests.build(asked)
        return { built: { type: 'built', request }, moved: bytesOf(request) }
      } catch (cause) {
        return { built: toFailure(cause), moved: [] }
      }
    },
    close: () => reader?.close(),
  }
}

function toFailure(cause: unknown): Built {
  if (cause instanceof WindowDamaged) return { type: 'damaged', seq: cause.seq }
  if (cause instanceof HoldfastError) return { type: 'failed', fault: cause.toFault() }
  return { type: 'broken', why: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
}

/** Returns the buffers of the files, each once: several messages may contain the same file. */
function bytesOf({ messages }: ModelRequest): ArrayBuffer[] {
  const files = messages.flatMap(({ role, content }) => {
    if (role === 'user') return content.filter((part) => part.type === 'file')
    return role === 'tool' ? content.flatMap((result) => result.files ?? []) : []
  })
  const buffers = files.map(({ bytes }) => bytes.buffer)
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer)
}

if (parentPort === null) throw new Error('request-worker.ts must run in a worker thread')

const port = parentPort
const source: RequestSource = workerData // typed by request-thread.ts
const builder = createBuilder(source)
let running = 0
let isClosing = false

const endWhenDone = () => {
  if (!isClosing || running > 0) return
  builder.close()
  port.close()
}

port.on('message', async (message: ToThread) => {
  if (message === null) {
    isClosing = true
    return endWhenDone()
  }
  running += 1
  const { built, moved } = await builder.build(message.asked)
  port.postMessage({ number: message.number, built } satisfies FromThread, moved)
  running -= 1
  endWhenDone()
})
port.postMessage('up' satisfies FromThread)
