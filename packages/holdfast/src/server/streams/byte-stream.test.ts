import { connect } from 'node:net'
import { ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { absentParts } from '../define/server-parts.ts'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { openByteStream, partBytes } from './byte-stream.ts'
import { createOutbox, privateCopies } from './outbox.ts'

/** Returns pieces that count how many were read, and whether their reader has left. */
function createPieces(pieceBytes: number) {
  const seen = { read: 0, left: 0 }
  const open = async function* () {
    try {
      for (;;) {
        seen.read += 1
        yield 'x'.repeat(pieceBytes)
      }
    } finally {
      seen.left += 1
    }
  }
  return { seen, open }
}

describe('a byte stream', () => {
  it('reads a piece only when the last one was taken, and sends it in parts', async () => {
    const { seen, open } = createPieces(2.5 * partBytes)
    const outbox = createOutbox({ connections: () => [] })
    const reader = openByteStream(open(), outbox).getReader()
    expect(seen.read).toBe(0)
    const sizes: number[] = []
    for (let part = 0; part < 3; part++) sizes.push((await reader.read()).value?.byteLength ?? 0)
    expect(sizes).toEqual([partBytes, partBytes, partBytes / 2])
    expect([seen.read, outbox.bytes()]).toEqual([1, 2.5 * partBytes * privateCopies])
    await reader.read()
    expect(seen.read).toBe(2)
    await reader.cancel()
    expect([seen.left, outbox.bytes()]).toEqual([1, 0])
  })
})

it('counts what the source of a small piece holds, until the piece is taken', async () => {
  const { open } = createPieces(100)
  const outbox = createOutbox({ connections: () => [] })
  const reader = openByteStream(open(), outbox, 4000).getReader()
  for (let piece = 0; piece < 3; piece++) {
    expect((await reader.read()).value?.byteLength).toBe(100)
    expect(outbox.bytes()).toBe(4000)
  }
  await reader.cancel()
  expect(outbox.bytes()).toBe(0)
})

describe('clients that do not read an export', () => {
  const path = `/v1/sessions/${sessionId}/export`
  type Test = Awaited<ReturnType<typeof openTestServer>>
  const askSilently = ({ server, tokens }: Test) => {
    const socket = connect(server.port, '127.0.0.1').pause()
    const lines = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${tokens.viewer}`
    socket.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n\r\n`)
    return socket
  }
  const pieceBytes = 16_000_000 // more than the system buffers

  it('take the bytes of few pieces together, and others are refused meanwhile', async () => {
    const { seen, open } = createPieces(pieceBytes)
    const transfer = { ...absentParts.transfer, export: async () => ok(open()) }
    await using test = await openTestServer({ transfer, bufferBytesMax: 10 })
    const silent = Array.from({ length: 10 }, () => askSilently(test))
    await expect.poll(() => seen.read).toBeGreaterThan(0)
    const refused = await test.call(path)
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'server_busy'])
    expect((await test.call('/v1/health')).status).toBe(200)
    expect(seen.read).toBeLessThan(4)
    for (const socket of silent) socket.destroy()
    await expect.poll(() => seen.left).toBe(seen.read)
  })

  it('are cut, and their export ends', async () => {
    const { seen, open } = createPieces(pieceBytes)
    await using test = await openTestServer({
      transfer: { ...absentParts.transfer, export: async () => ok(open()) },
      stallMs: 500, // less may cut a client on a busy machine before its request is read
    })
    const silent = askSilently(test)
    await expect.poll(() => seen.left).toBe(1)
    silent.destroy()
  })
})
