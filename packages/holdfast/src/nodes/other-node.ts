import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { decodeFrames } from '@holdfast/client'
import { decodeNodeNews } from '@holdfast/client/internal'
import type { HeldSeat, OtherNode } from '@holdfast/core'
import type { NodeRow } from '@holdfast/core/ports'
import { errorMessage, FaultSchema, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { connectNode } from '../system/node/node-socket.ts'

/** Sends a request to a node; resolves with the beginning of the answer. Rejects if the node cannot be reached. */
export type SendToNode = (path: string, body: string, signal: AbortSignal) => Promise<IncomingMessage>

/** Connects to another process that runs sessions of the same store, over its socket. */
export const reachNode = (node: NodeRow): OtherNode =>
  createOtherNode(node, async (path, body, signal) => {
    const socket = await connectNode(node)
    return new Promise((resolve, reject) => {
      const sent = request({ path, method: 'POST', signal, createConnection: () => socket })
      sent.on('error', reject).on('response', resolve).end(body)
    })
  })

/** Talks to another node by requests that `sendTo` sends. */
export const createOtherNode = (node: NodeRow, sendTo: SendToNode): OtherNode => ({
  async call(asked, signal) {
    const response = await post(node, sendTo, '/call', asked, signal)
    return response.ok ? readResult(node, response.value) : response
  },

  async *follow(asked, signal) {
    const response = await post(node, sendTo, '/follow', asked, signal)
    if (response.ok) yield* readStream(response.value, decodeFrames)
  },

  async *news(signal) {
    const response = await post(node, sendTo, '/news', {}, signal)
    if (!response.ok) return
    yield* readStream(response.value, decodeNodeNews)
  },

  async sit(asked, signal) {
    const leaving = new AbortController()
    const response = await post(node, sendTo, '/sit', asked, AbortSignal.any([signal, leaving.signal]))
    if (!response.ok) return response
    const lost = new Promise<void>((resolve) => response.value.once('close', resolve))
    const seat = await readFirstLine(node, response.value)
    if (!seat.ok) return seat
    const { client, role } = seat.value as Pick<HeldSeat, 'client' | 'role'> // as `serveNode` sends it
    response.value.resume()
    return ok({ client, role, lost, leave: () => leaving.abort() })
  },
})

/** Sends a request; resolves with the beginning of the answer. Refused: unreachable. */
async function post(
  node: NodeRow,
  sendTo: SendToNode,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Result<IncomingMessage>> {
  try {
    signal.throwIfAborted()
    const response = await sendTo(path, JSON.stringify(body), signal)
    response.on('error', () => undefined) // a reader sees it too
    return ok(response)
  } catch (cause) {
    return refuse(unreachable(node, cause))
  }
}

async function readResult(node: NodeRow, response: IncomingMessage): Promise<Result<unknown>> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of response as AsyncIterable<Uint8Array>) chunks.push(chunk)
    return parseResult(node, Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    return refuse(unreachable(node, cause))
  }
}

function readFirstLine(node: NodeRow, response: IncomingMessage): Promise<Result<unknown>> {
  let text = ''
  return new Promise((resolve) => {
    const end = () => {
      response.off('data', onData).off('end', end).off('close', end)
      resolve(parseResult(node, text))
    }
    const onData = (bytes: Buffer) => {
      text += bytes.toString('utf8')
      if (text.includes('\n')) end()
    }
    response.on('data', onData).on('end', end).on('close', end)
  })
}

/** Parses an answer. Its value is as the method returned it there, in the same version of the program. */
function parseResult(node: NodeRow, text: string): Result<unknown> {
  try {
    const result: { readonly ok?: unknown; readonly value?: unknown; readonly fault?: unknown } = JSON.parse(text)
    if (result.ok === true) return ok(result.value)
    return refuse(FaultSchema.parse(result.fault))
  } catch (cause) {
    return refuse(unreachable(node, cause))
  }
}

/** Reads frames until the stream ends or breaks. Both mean the same: look for the owner again. */
async function* readStream<Frame>(
  response: IncomingMessage,
  decode: (body: globalThis.ReadableStream<Uint8Array>) => AsyncIterable<Frame>,
): AsyncGenerator<Frame> {
  const body = Readable.toWeb(response) as ReadableStream<Uint8Array>
  const frames = decode(body as globalThis.ReadableStream<Uint8Array>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await frames.next().catch((cause) => {
        if (response.destroyed) return { done: true, value: undefined } as const
        throw cause // a frame that cannot be read
      })
      if (next.done) return
      yield next.value
    }
  } finally {
    response.destroy()
  }
}

const unreachable = ({ id }: NodeRow, cause: unknown) =>
  fault('unreachable', `The process ${id}, which owns the session, cannot be reached.`, {
    node: id,
    cause: errorMessage(cause),
  })
