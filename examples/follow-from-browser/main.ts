// Serves a page that follows a session live and sends prompts. Open the address it prints in several tabs.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { HoldfastError, openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: 'memory:' })
const session = await holdfast.startSession({ model: 'demo/agent', readOnly: true }) // the page cannot answer approvals

/** Sends the frames of the session as server-sent events. */
async function sendFrames(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const left = new AbortController()
  response.on('close', () => left.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // Starts with the first record. After a reconnect the browser names the last id it has, and misses nothing.
  const after = Number(request.headers['last-event-id'] ?? 0)
  try {
    for await (const frame of session.subscribe({ after, signal: left.signal })) {
      const id = frame.type === 'record' ? `id: ${frame.record.seq}\n` : ''
      if (!response.write(`${id}data: ${JSON.stringify(frame)}\n\n`)) await once(response, 'drain', left)
    }
    response.end()
  } catch (error) {
    if (!left.signal.aborted) throw error // a browser that left, also while it was slow, is no problem
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  if (request.url === '/frames') return await sendFrames(request, response)
  if (request.url === '/prompt' && request.method === 'POST') {
    const { seq } = await session.sendPrompt(await text(request))
    return response.writeHead(202).end(String(seq))
  }
  response.writeHead(200, { 'content-type': 'text/html' })
  return response.end(await readFile(join(import.meta.dirname, 'page.html')))
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    if (response.headersSent) return response.destroy()
    const isRefused = error instanceof HoldfastError // such as an empty prompt
    return response.writeHead(isRefused ? 400 : 500).end(isRefused ? error.message : 'Something went wrong.')
  })
})

server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1')
await once(server, 'listening')
const address = server.address()
console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`)

await once(process, 'SIGINT')
server.close()
server.closeAllConnections()
