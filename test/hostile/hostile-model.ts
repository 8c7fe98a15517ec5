import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A block of an answer: text, a call of a tool, or bytes that the stream gets as they are. Arguments may be JSON text. */
export type Block =
  | { readonly text: string }
  | { readonly tool: string; readonly args: string | { readonly [name: string]: unknown } }
  | { readonly raw: string }

/** Returns the blocks of the answer to a prompt. */
export type Script = () => Iterable<Block>

/** A model service that answers as its scripts say. A prompt names its script; after tool results it says "Done.". */
export interface HostileModel {
  readonly environment: { readonly [name: string]: string }
  readonly model: string
  script(name: string, blocks: Script): void
  /** Returns the size of the largest request since the last call, in bytes. */
  largestRequest(): number
  close(): void
}

export async function startHostileModel(): Promise<HostileModel> {
  const scripts = new Map<string, Script>()
  let largest = 0
  const server = createServer((request, response) => {
    readText(request)
      .then((text) => {
        largest = Math.max(largest, Buffer.byteLength(text))
        return answer(text, response, scripts)
      })
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    environment: { ANTHROPIC_API_KEY: 'sk-ant-hostile', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/v1` },
    model: 'anthropic/claude-sonnet-4-5',
    script: (name, blocks) => scripts.set(name, blocks),
    largestRequest() {
      const bytes = largest
      largest = 0
      return bytes
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(text: string, response: ServerResponse, scripts: ReadonlyMap<string, Script>): Promise<void> {
  const body: { messages?: readonly { content: unknown }[] } = JSON.parse(text)
  const last = JSON.stringify(body.messages?.at(-1)?.content ?? '')
  const name = [...scripts.keys()].find((one) => last.includes(`script ${one}.`))
  const blocks = name === undefined ? [{ text: 'Done.' }] : (scripts.get(name)?.() ?? [])
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const closed = once(response, 'close')
  const write = async (text: string) => {
    if (!response.write(text) && !response.destroyed)
      await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
  }
  const send = (event: { readonly type: string; readonly [field: string]: unknown }) =>
    write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const usage = { input_tokens: 10, output_tokens: 10 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage }
  await send({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } })
  let index = 0
  let hasCalls = false
  for (const block of blocks) {
    if (response.destroyed) return
    if ('raw' in block) {
      await write(block.raw)
      continue
    }
    const isCall = 'tool' in block
    hasCalls ||= isCall
    const content_block = isCall
      ? { type: 'tool_use', id: `toolu_${index}`, name: block.tool, input: {} }
      : { type: 'text', text: '' }
    const delta = isCall
      ? {
          type: 'input_json_delta',
          partial_json: typeof block.args === 'string' ? block.args : JSON.stringify(block.args),
        }
      : { type: 'text_delta', text: block.text }
    await send({ type: 'content_block_start', index, content_block })
    await send({ type: 'content_block_delta', index, delta })
    await send({ type: 'content_block_stop', index })
    index++
  }
  const delta = { stop_reason: hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null }
  await send({ type: 'message_delta', delta, usage: { output_tokens: 10 } })
  await send({ type: 'message_stop' })
  response.end()
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
