import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AnthropicAnswer, errorTypeOf, eventsOf, givenBy, type WireEvent } from './anthropic-answer.ts'
import { complaintAbout, type GivenAnswer } from './anthropic-rules.ts'
import { WireRequest } from './anthropic-wire.ts'

export type ReceivedRequest = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  /** What was wrong with its history, in Anthropic's words; it was then answered 400 whatever the script said. */
  readonly complaint: string | null
  /** Resolves when its connection is done with: answered to the end, or hung up. */
  readonly closed: Promise<void>
}

export type AnthropicServer = AsyncDisposable & {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Adds answers to the end of the script. */
  answer(...answers: readonly AnthropicAnswer[]): void
  /** Resolves with the n-th request, counted from 1, once it is here. */
  received(count: number): Promise<ReceivedRequest>
  /** Cuts every connection. */
  close(): Promise<void>
}

/**
 * A loopback server that speaks Anthropic's Messages stream, says what the test wrote down, and is as strict as the real
 * one: a history the API would refuse is answered 400 with the API's own words, and uses up no answer of the script.
 */
export async function startAnthropicServer(...answers: readonly AnthropicAnswer[]): Promise<AnthropicServer> {
  const script = [...answers]
  const given: GivenAnswer[] = []
  const requests: ReceivedRequest[] = []
  const waiting: { readonly count: number; readonly resolve: (request: ReceivedRequest) => void }[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    const complaint = complaintOf(request, body, given)
    const closed = new Promise<void>((resolve) => void response.once('close', resolve))
    const received = { path: request.url ?? '', headers: request.headers, body, complaint, closed }
    requests.push(received)
    for (const { count, resolve } of waiting) if (count === requests.length) resolve(received)

    if (complaint !== null) return sendError(response, 400, complaint)
    const answer = script.shift()
    if (answer === undefined) return sendError(response, 500, `the script has no answer for request ${requests.length}`)
    if (answer.type === 'message') given.push(givenBy(answer))
    await perform(answer, requests.length, response)
  }

  const server = createServer((request, response) => {
    // A client that goes away in the middle is an ordinary thing here.
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, so it has one

  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (...more) => void script.push(...more),
    received: async (count) => requests[count - 1] ?? new Promise((resolve) => void waiting.push({ count, resolve })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return null
  }
}

function complaintOf({ url, method }: IncomingMessage, body: unknown, given: readonly GivenAnswer[]): string | null {
  if (method !== 'POST' || url !== '/v1/messages') return `there is no ${method} ${url}`
  const request = WireRequest.safeParse(body)
  if (request.success) return complaintAbout(request.data, given)
  const [issue] = request.error.issues
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a request'}`
}

async function perform(answer: AnthropicAnswer, number: number, response: ServerResponse): Promise<void> {
  switch (answer.type) {
    case 'hang':
      return
    case 'drop':
      response.destroy()
      return
    case 'page':
      response.writeHead(answer.status, { 'content-type': 'text/html' }).end(answer.body)
      return
    case 'error':
      return sendError(response, answer.status, answer.message, answer.headers)
    case 'message':
      return await sendMessage(answer, number, response)
  }
}

function sendError(response: ServerResponse, status: number, message: string, headers = {}): void {
  const body = { type: 'error', error: { type: errorTypeOf(status), message } }
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

type Message = Extract<AnthropicAnswer, { readonly type: 'message' }>

async function sendMessage(answer: Message, number: number, response: ServerResponse): Promise<void> {
  const write = (event: WireEvent) =>
    new Promise<void>((sent) =>
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, () => sent()),
    )
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()

  for (const [index, event] of eventsOf(answer, number).entries()) {
    if (index === answer.after?.events) {
      const { detour } = answer.after
      if (detour.type === 'hang') return
      if (detour.type === 'cut') return void response.destroy()
      if (detour.type === 'stop') break
      if (detour.type === 'wait') await detour.gate.pass()
      if (detour.type === 'error') {
        await write({ type: 'error', error: { type: detour.error, message: detour.message } })
        break
      }
    }
    await write(event)
  }
  response.end()
}
