import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { cutStalled, trackConnections } from './connections.ts'
import { openTestServer } from './testing/test-server.ts'

/** Blocks this thread, as garbage collection or a busy machine may: timers are late, and nobody reads the sockets. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const health = (port: number) => `GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

/** Connects. `read` returns the next bytes, or how the connection ended. */
async function connectTo(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const read = () =>
    Promise.race([
      once(socket, 'data').then(([bytes]) => String(bytes)),
      once(socket, 'error').then(([error]) => String(error)),
      once(socket, 'end').then(() => 'closed'),
    ])
  return { socket, read }
}

describe('a connection', () => {
  it('without a request yet is not cut by the time for clients that do not read', async () => {
    const server = createServer((_, response) => response.end('hello'))
    cutStalled(server, 4000, trackConnections(server))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const arrived = once(server, 'connection')
    const { socket, read } = await connectTo(typeof address === 'object' && address ? address.port : 0)
    const [accepted] = (await arrived) as [Socket]
    server.emit('timeout', accepted)
    await new Promise((resolve) => setImmediate(resolve)) // when one that is kept is closed
    expect(accepted.destroyed).toBe(false)

    socket.write(health(0))
    expect(await read()).toContain('hello')
    server.emit('timeout', accepted)
    expect(await read()).toBe('closed')
    server.close()
  })

  it('is kept for a next request, and closed when none comes', async () => {
    await using test = await openTestServer({ keptMs: 1 })
    const { socket, read } = await connectTo(test.server.port)
    socket.write(health(test.server.port))
    expect(await read()).toContain('200 OK')
    expect(await read()).toBe('closed')
  })

  it('is closed although bytes came that begin no request', async () => {
    await using test = await openTestServer({ keptMs: 1 })
    const { socket, read } = await connectTo(test.server.port)
    socket.write(health(test.server.port))
    expect(await read()).toContain('200 OK')
    socket.write('\r\n')
    expect(await read()).toBe('closed')
  })

  it('is not closed while its next request waits to be read', async () => {
    await using test = await openTestServer({ keptMs: 1 })
    const { socket, read } = await connectTo(test.server.port)
    socket.write(health(test.server.port))
    expect(await read()).toContain('200 OK')
    socket.write(health(test.server.port))
    block(1500) // Node keeps a connection for a second longer than it says
    expect(await read()).toContain('200 OK')
  })

  it('is not refused as too slow while its request waits to be read', async () => {
    await using test = await openTestServer({ headersTimeoutMs: 100 })
    const { socket, read } = await connectTo(test.server.port)
    await test.call('/v1/health') // the server has accepted the connection before this one
    socket.write(health(test.server.port))
    block(400)
    expect(await read()).toContain('200 OK')
  })
})
