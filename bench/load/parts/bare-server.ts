import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sharedNowMs } from './percentiles.ts'

/*
 * A server of events without anything else, to compare with: it encodes each event once and writes it to every viewer.
 * Its parent says what to send: `words` events of `bytes` bytes at `rate` a second. It answers when they are written.
 */
const viewers = new Set<ServerResponse>()

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' })
  response.write(': bare\n\nevent: snapshot\ndata: {}\n\n')
  viewers.add(response)
  response.once('close', () => viewers.delete(response))
})

function send(index: number, bytes: number): void {
  const head = `event: delta\ndata: {"type":"delta","index":${index},"text":"${index}@${sharedNowMs().toFixed(3)} `
  const event = Buffer.from(`${head.padEnd(bytes - 4, 'x')}"}\n\n`)
  for (const viewer of viewers) viewer.write(event)
}

type Wish = { readonly words: number; readonly bytes: number; readonly rate: number }

process.on('message', ({ words, bytes, rate }: Wish) => {
  const start = sharedNowMs()
  let sent = 0
  const next = () => {
    if (sent === words) return process.send?.('written')
    send(sent++, bytes)
    setTimeout(next, Math.max(0, start + (sent * 1000) / rate - sharedNowMs()))
  }
  next()
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // it listens on a TCP port
  process.send?.({ port })
})
process.once('disconnect', () => process.exit()) // the parent has ended
