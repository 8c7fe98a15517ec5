import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeApi } from '@holdfast/core'
import { fault, limits } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createNodeHandler } from './node-server.ts'

const refused = fault('unauthorized', 'Only nodes may ask.')

it('holds the bodies of callers that it does not know yet within one limit for all of them', async () => {
  const problems: unknown[] = []
  const api = {} as NodeApi // no request is let in
  const server = createServer(
    createNodeHandler(
      api,
      (problem) => problems.push(problem),
      async () => refused,
    ),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo // it listens on a TCP port
    const begin = (bytes: number) => {
      const sent = request({ port, host: '127.0.0.1', path: '/call', method: 'POST' })
      const answered = once(sent, 'response').then(([response]) => {
        response.resume()
        return Number(response.statusCode)
      })
      answered.catch(() => undefined) // its connection is cut
      sent.on('error', () => undefined)
      sent.write(Buffer.alloc(bytes, 32))
      return { sent, answered }
    }
    const [one, other] = [begin(limits.requestBodiesBytesMax - 1024), begin(64 * 1024)]
    expect(await Promise.race([one.answered, other.answered])).toBe(503)

    one.sent.destroy()
    other.sent.destroy()
    const askWhole = () => {
      const { sent, answered } = begin(64 * 1024)
      sent.end()
      return answered
    }
    await expect.poll(askWhole).toBe(401) // once the server has noticed that they left
    expect(problems).toEqual([])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
