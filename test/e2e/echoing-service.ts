import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model service that repeats its keys in bodies, headers and answers. */
export interface EchoingService {
  readonly url: string
  /** The keys and bodies of the requests it got. */
  readonly keys: ReadonlySet<string>
  readonly bodies: readonly string[]
  close(): void
}

/** What the service does for the last prompt. */
type Deed = (echo: string, response: ServerResponse) => void

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'echo',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'echo',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const stream = (response: ServerResponse, ...data: readonly (object | string)[]) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const one of data) response.write(`data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
  response.end('data: [DONE]\n\n')
}

const say = (response: ServerResponse, text: string) =>
  stream(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'))

const refuse =
  (status: number): Deed =>
  (echo, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-echo': echo, 'www-authenticate': `Bearer ${echo}` })
      .end(JSON.stringify({ error: { message: `not with ${echo}`, type: 'invalid_request_error', param: echo } }))

const deeds: { readonly [words: string]: Deed } = {
  'be rejected': refuse(401),
  'be forbidden': refuse(403),
  'be refused': refuse(400),
  'fail inside': (echo, response) =>
    stream(response, { error: { message: `broke on ${echo}`, type: 'invalid_request_error', code: 400 } }),
  'say garbage': (echo, response) => stream(response, `{"choices": 0${echo}`, `{"choices": "${echo}\u0001"}`),
}

export async function startEchoingService(known: readonly string[]): Promise<EchoingService> {
  const keys = new Set<string>()
  const bodies: string[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
    keys.add(key)
    if (!known.includes(key)) return refuse(401)(key, response)
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'echo' }] }))
    const body = await textOf(request)
    bodies.push(body)
    const { messages } = JSON.parse(body)
    const last = messages.at(-1)
    const words = typeof last.content === 'string' ? last.content : JSON.stringify(last.content)
    // Unanswered prompts share one message; the last one counts.
    const [asked = 'nothing'] = Object.keys(deeds).sort(
      (one, other) => words.lastIndexOf(other) - words.lastIndexOf(one),
    )
    const deed = words.includes(asked) ? deeds[asked] : undefined
    if (last.role === 'tool') return say(response, 'That is all there is.')
    if (deed) return deed(key, response)
    const command = /run this: (.*)$/m.exec(words)?.[1]
    if (command === undefined) return say(response, 'Hello.')
    const call = { name: 'shell', arguments: JSON.stringify({ command }) }
    const wanted = { index: 0, id: 'call_1', type: 'function', function: call }
    return stream(response, chunk({ role: 'assistant', tool_calls: [wanted] }), chunk({}, 'tool_calls'))
  }

  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    keys,
    bodies,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const one of request) chunks.push(one)
  return Buffer.concat(chunks).toString()
}
