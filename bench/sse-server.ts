import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/*
 * A model service on loopback. It runs in a separate process, so that its work does not block the event loop of the client.
 * Its answer is encoded in advance, so that both sides of a comparison receive the same bytes. The model name selects the
 * mode: `hang` sends one word and keeps the connection open, `paced` spreads the words over `pacedMs`, `metronome` sends a
 * word every `beatMs` (its number and the time it was sent), any other name sends all words at once.
 */
const deltas = Number(process.argv[2])
const pacedMs = 250
const beatMs = 10
const beats = 100

const event = (body: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
const word = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', content: [], stop_reason: null }
const beginning = [
  event({ type: 'message_start', message: { ...message, usage: { input_tokens: 25, output_tokens: 1 } } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
].join('')
const ended = { stop_reason: 'end_turn', stop_sequence: null }
const ending = [
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'message_delta', delta: ended, usage: { output_tokens: deltas } }),
  event({ type: 'message_stop' }),
].join('')
const words = Array.from({ length: deltas }, (_, index) => word(`word ${index} `))
const whole = Buffer.from([beginning, ...words, ending].join(''))

async function pace(response: ServerResponse): Promise<void> {
  response.write(beginning)
  const start = performance.now()
  for (let sent = 0; sent < deltas; ) {
    await delay(1)
    const due = Math.min(deltas, Math.ceil((deltas * (performance.now() - start)) / pacedMs))
    response.write(words.slice(sent, due).join(''))
    sent = due
  }
  response.end(ending)
}

async function beat(response: ServerResponse): Promise<void> {
  response.write(beginning)
  const start = performance.now()
  for (let sent = 0; sent < beats; sent++) {
    const dueMs = start + sent * beatMs - performance.now()
    if (dueMs > 0) await delay(dueMs)
    response.write(word(`${sent}@${performance.timeOrigin + performance.now()} `))
  }
  response.end(ending)
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { model } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  if (model === 'paced') return pace(response)
  if (model === 'metronome') return beat(response)
  if (model !== 'hang') return response.end(whole)
  response.once('close', () => process.send?.('closed'))
  return response.write(beginning + word('One '))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // it listens on a TCP port
  process.send?.({ port })
})
process.once('disconnect', () => process.exit()) // the parent has ended
