import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { sharedNowMs } from './percentiles.ts'

/*
 * A model service in a process of its own. The prompt says what it answers: "say 200 words of 30 bytes at 20/s". Each
 * word is its number and the time at which it was sent, so that a subscriber can tell what it missed and how late it is.
 */
const event = (body: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
const word = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

const message = { id: 'msg_load', type: 'message', role: 'assistant', model: 'load', content: [], stop_reason: null }
const beginning = [
  event({ type: 'message_start', message: { ...message, usage: { input_tokens: 25, output_tokens: 1 } } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
].join('')
const ending = [
  event({ type: 'content_block_stop', index: 0 }),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 100 },
  }),
  event({ type: 'message_stop' }),
].join('')

const wish = /say (\d+) words of (\d+) bytes at (\d+)\/s/g

async function answer(text: string, response: ServerResponse): Promise<void> {
  const [, count, bytes, rate] = [...text.matchAll(wish)].at(-1)?.map(Number) ?? [0, 1, 0, 0]
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(beginning)
  const start = sharedNowMs()
  for (let sent = 0; sent < (count ?? 0); sent++) {
    const dueMs = rate ? start + (sent * 1000) / rate - sharedNowMs() : 0
    if (dueMs > 0) await delay(dueMs)
    const isTaken = response.write(word(`${sent}@${sharedNowMs().toFixed(3)} `.padEnd(bytes ?? 0, 'x ')))
    if (!isTaken) await new Promise((resolve) => response.once('drain', resolve))
    if (response.destroyed) return
  }
  response.end(ending)
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  await answer(Buffer.concat(chunks).toString('utf8'), response)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // it listens on a TCP port
  process.send?.({ port })
})
process.once('disconnect', () => process.exit()) // the parent has ended
