import { type IncomingMessage, request as passOn, type ServerResponse } from 'node:http'
import type { HistoryProvider } from '../validate-history/providers.ts'
import { createAnthropicApi } from './anthropic/server.ts'
import { serveLocally } from './base/local-server.ts'
import { type StrictApi, sseEvents } from './base/server.ts'
import { createGeminiApi } from './gemini/server.ts'
import { createOpenAiChatApi } from './openai-chat/server.ts'
import { createOpenAiResponsesApi } from './openai-responses/server.ts'

/** A request that passed the proxy. */
export type ProxiedRequest = {
  /** The API it was meant for. */
  readonly service: HistoryProvider
  /** The path of its URL. */
  readonly path: string
  /** The exact bytes received. */
  readonly body: string
  /** The error with which its service would reject it, or null. */
  readonly complaint: string | null
  /** The answer of the upstream server so far. */
  readonly answer: { status: number | null; text: string }
}

/** A proxy that checks requests before it forwards them. */
export type StrictProxy = AsyncDisposable & {
  /** One URL for all services, which differ by path. */
  readonly url: string
  /** The requests that passed, in order. */
  readonly requests: readonly ProxiedRequest[]
  /** Stops the proxy. */
  close(): Promise<void>
}

const paths: readonly (readonly [string, HistoryProvider])[] = [
  ['/v1/messages', 'anthropic'],
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/v1beta/models/', 'gemini'],
]

type RequestChecker = Pick<StrictApi<unknown>, 'complaintAbout' | 'rememberStreamed'>

/**
 * Starts a proxy in front of less strict servers. It checks every request against the rules of its service and the answers
 * given before, and forwards it unchanged.
 */
export async function startStrictProxy(behind: (service: HistoryProvider) => string): Promise<StrictProxy> {
  const checkers: Readonly<Record<HistoryProvider, RequestChecker>> = {
    anthropic: createAnthropicApi(),
    'openai-chat': createOpenAiChatApi(),
    'openai-responses': createOpenAiResponsesApi(),
    gemini: createGeminiApi(),
  }
  const requests: ProxiedRequest[] = []

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming
    const body = await textOf(incoming)
    const service = paths.find(([start]) => path.startsWith(start))?.[1]
    if (service === undefined) return void response.writeHead(404).end(`no service for ${method} ${path}`)
    const complaint = checkers[service].complaintAbout({ method, path, body: parsed(body) })
    const answer: ProxiedRequest['answer'] = { status: null, text: '' }
    requests.push({ service, path, body, complaint, answer })

    const forwarded = passOn(`${behind(service)}${path}`, { method, headers: { ...headers } })
    response.once('close', () => forwarded.destroy())
    forwarded.once('close', () => checkers[service].rememberStreamed(sseEvents(answer.text)))
    forwarded.once('error', () => response.destroy())
    forwarded.once('response', (upstream) => {
      answer.status = upstream.statusCode ?? null
      response.writeHead(upstream.statusCode ?? 502, upstream.headers)
      upstream.on('data', (chunk: Buffer) => {
        answer.text += chunk.toString('utf8')
        response.write(chunk)
      })
      upstream.once('end', () => response.end())
      upstream.once('error', () => response.destroy()) // an upstream error closes the client's connection too
    })
    forwarded.end(body)
  }

  const { url, close } = await serveLocally(handle)
  return { url, requests, close, [Symbol.asyncDispose]: close }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
