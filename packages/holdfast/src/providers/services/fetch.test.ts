import type { ServerResponse } from 'node:http'
import { type ErrorKind, limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { collectFailure, startHttpServer } from '../ai-sdk/testing/http-server.ts'
import { createModels } from '../models.ts'
import { limitAnswer } from './fetch.ts'

const mebibyte = 1024 * 1024
const tooMuch = 'The answer of VLLM is too long.'

function providerAt(url: string) {
  const found = createModels({ environment: { VLLM_BASE_URL: url } }).find('vllm/any')
  return found.type === 'ready' ? found.provider : expect.fail(found.message)
}

/** Sends the same text until the client disconnects, and counts the bytes. */
function endless(status: number, type: string, piece: string) {
  let sentBytes = 0
  const closed = Promise.withResolvers<number>()
  const send = (response: ServerResponse) => {
    while (!response.destroyed) {
      sentBytes += piece.length
      if (!response.write(piece)) return void response.once('drain', () => send(response))
    }
  }
  const start = () =>
    startHttpServer((_request, response) => {
      response.on('close', () => closed.resolve(sentBytes))
      send(response.writeHead(status, { 'content-type': type }))
    })
  return { start, sentBytes: closed.promise }
}

const answerWith = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`

describe('an endless answer', () => {
  const stream = 'text/event-stream'
  it.each<[string, number, string, string, ErrorKind, string, number]>([
    [
      'an error',
      400,
      'text/plain',
      'x'.repeat(65_536),
      'raw_dump',
      'VLLM failed without a clear reason (HTTP 400).',
      1,
    ],
    ['a line', 200, stream, 'data: xxxx'.repeat(10_000), 'raw_dump', tooMuch, 4],
    ['an event of many lines', 200, stream, 'data: xxxx\n'.repeat(10_000), 'raw_dump', tooMuch, 4],
    ['words', 200, stream, answerWith('y'.repeat(100_000)), 'raw_dump', tooMuch, 4],
  ])('is stopped if it is %s', async (_what, status, type, piece, kind, message, mebibytes) => {
    const { start, sentBytes } = endless(status, type, piece)
    await using server = await start()
    const { parts, end } = await collectFailure(providerAt(server.url))
    expect(end).toMatchObject({ fault: { kind, message: expect.stringContaining(message) }, retryable: false })
    const chars = parts.reduce((sum, part) => sum + (part.type === 'delta' ? part.text.length : 0), 0)
    expect(chars).toBeLessThanOrEqual(limits.answerCharsMax)
    // Allows for the buffers of two sockets.
    expect(await sentBytes).toBeLessThan((mebibytes + 24) * mebibyte)
  })
})

describe('an answer of many events', () => {
  const bodyOf = (chunks: Iterable<string>) => {
    const encoder = new TextEncoder()
    const bytes = Array.from(chunks, (chunk) => encoder.encode(chunk))
    return limitAnswer(new Response(ReadableStream.from(bytes), { status: 200 }))
  }
  const event = (ends: string) => `data: ${'x'.repeat(mebibyte)}${ends}`

  it.each([
    ['whole', [event('\n\n')]],
    ['with CRLF line ends', [event('\r\n\r\n')]],
    ['cut before the end of each', [event(''), '\n\n']],
    ['cut within the end of each', [event('\n'), '\n']],
    ['cut within the end of each, with CRLF', [event('\r\n'), '\r\n']],
  ])('is passed on unchanged: %s', async (_how, chunks) => {
    const sent = Array.from({ length: 20 }, () => chunks).flat()
    expect((await bodyOf(sent).text()) === sent.join('')).toBe(true)
  })

  it('fails if one event is too long', async () => {
    const sent = [event('\n\n'), ...Array.from({ length: 5 }, () => event(''))]
    await expect(bodyOf(sent).text()).rejects.toThrow('one event is longer than 4194304 bytes')
  })

  it('fails before parsing if one event has too many values', async () => {
    const lists = (count: number, ends = '\n\n') => `data: {"a":[${'[],'.repeat(count / 2)}0]}${ends}`
    const count = limits.answerEventValuesMax
    expect((await bodyOf([lists(count / 2), lists(count / 2)]).text()).length).toBeGreaterThan(count)
    expect(await bodyOf([`data: {"a":"\\"${'[],'.repeat(count)}"}\n\n`]).text()).toContain('[],')
    for (const sent of [[lists(2 * count)], [...lists(2 * count)]])
      await expect(bodyOf(sent).text()).rejects.toThrow(`one event is longer than ${count} values`)
  })

  it('is passed on in small pieces, with slices between them', async () => {
    let slices = 0
    let isOver = false
    const count = () => {
      slices++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const pings = 'event: ping\ndata: {"type":"ping"}\n\n'.repeat(20_000)
    let longest = 0
    let pieces = 0
    for await (const piece of bodyOf([pings]).body ?? []) {
      longest = Math.max(longest, piece.byteLength)
      pieces++
    }
    isOver = true
    expect(longest).toBeLessThanOrEqual(16 * 1024)
    expect(slices).toBeGreaterThanOrEqual(pieces - 2)
  })

  it('fails if all events together are too long', async () => {
    const sent = Array.from({ length: 257 }, () => event('\n\n'))
    await expect(bodyOf(sent).body?.pipeTo(new WritableStream())).rejects.toThrow('one answer is longer than')
  })
})

it('keeps status, headers and a missing body', async () => {
  const answer = limitAnswer(new Response('Slow.', { status: 429, headers: { 'retry-after': '7' } }))
  expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([429, '7', 'Slow.'])
  expect(limitAnswer(new Response(null, { status: 204 })).body).toBeNull()
})
