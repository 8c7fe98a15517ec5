import type { Socket } from 'node:net'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { ModelPart } from '@holdfast/core/ports'
import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createAiSdkProvider } from '../ai-sdk/provider.ts'
import { collectFailure, startHttpServer, startSocketServer } from '../ai-sdk/testing/http-server.ts'
import { findNetworkCause } from './cause.ts'

const at = (baseURL: string) =>
  createAiSdkProvider(createAnthropic({ apiKey: 'key', baseURL })('claude'), { title: 'Anthropic' })
const portOf = (url: string) => new URL(url).host

describe('a failed connection', () => {
  it('is refused if nothing listens, and names the host', async () => {
    const gone = await startSocketServer(() => undefined)
    await gone[Symbol.asyncDispose]()
    const { end } = await collectFailure(at(`${gone.url}/v1`))
    expect(end).toMatchObject({
      fault: {
        kind: 'unreachable',
        message: `Nothing listens at ${portOf(gone.url)}. Start Anthropic there or check the base URL, then continue.`,
      },
      retryable: true,
    })
  })

  it('names an unknown host', async () => {
    const { end } = await collectFailure(at('http://no-such-host.invalid/v1'))
    expect(end).toMatchObject({
      fault: {
        kind: 'unreachable',
        message: 'Cannot resolve no-such-host.invalid. Check the network and the base URL of Anthropic, then continue.',
      },
      retryable: true,
    })
  })

  it('is not retried if the server does not use TLS', async () => {
    await using server = await startHttpServer((_request, response) => void response.end())
    const { end } = await collectFailure(at(server.url.replace('http:', 'https:')))
    expect(end).toMatchObject({
      fault: {
        kind: 'unreachable',
        message: expect.stringMatching(/^Cannot connect securely to 127\.0\.0\.1:\d+: its/),
      },
      retryable: false,
    })
  })

  it('is broken if the server disconnects without an answer', async () => {
    await using server = await startSocketServer((socket) => socket.once('data', () => socket.end()))
    const { end } = await collectFailure(at(server.url))
    expect(end).toMatchObject({
      fault: {
        kind: 'unreachable',
        message: 'The connection to Anthropic broke before the answer was complete. Continue to resume it.',
      },
      retryable: true,
    })
  })

  it('is broken if it is reset during an answer, and keeps the text', async () => {
    const head =
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-request-id: req_7\r\n\r\n'
    const half = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half of' } }] })}\n\n`
    const sockets: Socket[] = []
    await using server = await startSocketServer((socket) => {
      sockets.push(socket)
      socket.once('data', () => socket.write(`${head}${half.length.toString(16)}\r\n${half}\r\n`))
    })
    const model = createOpenAI({ apiKey: 'key', baseURL: server.url }).chat('gpt-5')
    const parts: ModelPart[] = []
    const { signal } = new AbortController()
    for await (const part of createAiSdkProvider(model, { title: 'OpenAI' }).stream(aRequest(), { signal })) {
      if (parts.push(part) === 1) sockets[0]?.resetAndDestroy()
    }
    expect(parts).toMatchObject([
      { type: 'delta', text: 'Half of' },
      {
        type: 'end',
        end: {
          type: 'failed',
          fault: {
            kind: 'unreachable',
            message: 'The connection to OpenAI broke before the answer was complete. Continue to resume it.',
            detail: expect.stringContaining('x-request-id: req_7'),
          },
          retryable: true,
        },
      },
    ])
  })

  it('reports a server that does not speak HTTP', async () => {
    await using server = await startSocketServer((socket) =>
      socket.once('data', () => socket.end('220 mail ready\r\n')),
    )
    const { end } = await collectFailure(at(server.url))
    expect(end).toMatchObject({
      fault: {
        kind: 'raw_dump',
        message: `The server at ${server.url}/messages is not the API of Anthropic. Check the base URL, then continue.`,
      },
      retryable: false,
    })
  })

  it.each([
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
    ['CERT_HAS_EXPIRED', 'untrusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
    ['EAI_AGAIN', 'unknown_host'],
    ['ECONNRESET', 'broken'],
    ['UND_ERR_SOCKET', 'broken'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['SOMETHING_ELSE', null],
  ])('with the code %s is %s', (code, expected) => {
    const cause = Object.assign(new Error('no'), { code })
    expect(findNetworkCause(new Error('outer', { cause }))).toBe(expected)
  })

  it('is a timeout if its signal timed out', () => {
    expect(findNetworkCause(new DOMException('The operation timed out', 'TimeoutError'))).toBe('timeout')
  })

  it('has the cause of the first address, if a host has several', () => {
    const tried = ['::1', '127.0.0.1'].map((address) => Object.assign(new Error(address), { code: 'ECONNREFUSED' }))
    expect(findNetworkCause(new Error('outer', { cause: new AggregateError(tried) }))).toBe('refused')
  })
})
