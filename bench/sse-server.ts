import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/*
 * A model service on loopback, in a process of its own: what it costs to speak must not be counted on the loop of whoever
 * listens. What it says was encoded before, so that both sides of a comparison hear exactly the same bytes. The name of
 * the model says how: `hang` says one word and holds the line, `paced` spreads its words over `pacedMs`, `metronome` says
 * one each `beatMs`, its number and when it was said; any other says them all at once.
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
  for (let said = 0; said < deltas; ) {
    await delay(1)
    const due = Math.min(deltas, Math.ceil((deltas * (performance.now() - start)) / pacedMs))
    response.write(words.slice(said, due).join(''))
    said = due
  }
  response.end(ending)
}

async function beat(response: ServerResponse): Promise<void> {
  response.write(beginning)
  const start = performance.now()
  for (let said = 0; said < beats; said++) {
    const dueMs = start + said * beatMs - performance.now()
    if (dueMs > 0) await delay(dueMs)
    response.write(word(`${said}@${performance.timeOrigin + performance.now()} `))
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
  const { port } = server.address() as AddressInfo // it listens on a port, so it has one
  process.send?.({ port })
})
process.once('disconnect', () => process.exit()) // it never outlives the bench
