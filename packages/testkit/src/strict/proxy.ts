import { type IncomingMessage, request as passOn, type ServerResponse } from 'node:http'
import type { HistoryProvider } from '../validate-history/providers.ts'
import { createAnthropicApi } from './anthropic/server.ts'
import { serveLocally } from './base/local-server.ts'
import { type StrictApi, sseEvents } from './base/server.ts'
import { createGeminiApi } from './gemini/server.ts'
import { createOpenAiChatApi } from './openai-chat/server.ts'
import { createOpenAiResponsesApi } from './openai-responses/server.ts'

export type ProxiedRequest = {
  readonly service: HistoryProvider
  readonly path: string
  /** As it came, to the byte. */
  readonly body: string
  /** What its service would refuse it for, in its own words, or null. */
  readonly complaint: string | null
  /** What the server behind said so far. */
  readonly answer: { status: number | null; text: string }
}

export type StrictProxy = AsyncDisposable & {
  /** One address for all services: they are told apart by their paths. */
  readonly url: string
  readonly requests: readonly ProxiedRequest[]
  close(): Promise<void>
}

const paths: readonly (readonly [string, HistoryProvider])[] = [
  ['/v1/messages', 'anthropic'],
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/v1beta/models/', 'gemini'],
]

type Desk = Pick<StrictApi<unknown>, 'complaintAbout' | 'hear'>

/**
 * Starts a proxy in front of less strict servers. It checks every request against the rules of its service and the answers
 * given before, and forwards it unchanged.
 */
export async function startStrictProxy(behind: (service: HistoryProvider) => string): Promise<StrictProxy> {
  const desks: Readonly<Record<HistoryProvider, Desk>> = {
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
    if (service === undefined) return void response.writeHead(404).end(`nobody answers ${method} ${path}`)
    const complaint = desks[service].complaintAbout({ method, path, body: parsed(body) })
    const answer: ProxiedRequest['answer'] = { status: null, text: '' }
    requests.push({ service, path, body, complaint, answer })

    const further = passOn(`${behind(service)}${path}`, { method, headers: { ...headers } })
    response.once('close', () => further.destroy())
    further.once('close', () => desks[service].hear(sseEvents(answer.text)))
    further.once('error', () => response.destroy())
    further.once('response', (heard) => {
      answer.status = heard.statusCode ?? null
      response.writeHead(heard.statusCode ?? 502, heard.headers)
      heard.on('data', (chunk: Buffer) => {
        answer.text += chunk.toString('utf8')
        response.write(chunk)
      })
      heard.once('end', () => response.end())
      heard.once('error', () => response.destroy()) // cut behind us: cut before us
    })
    further.end(body)
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
