import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { sessionId } from './testing/fake-sessions.ts'
import { openTestServer } from './testing/test-server.ts'

/** Reads the refusal from a raw answer. */
function parseRefusal(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(answer.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1)
  const { error } = JSON.parse(body)
  expect(head.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(body)}`)
  expect(head.toLowerCase()).toContain('x-content-type-options: nosniff')
  expect(head.toLowerCase()).toContain(`x-request-id: ${error.requestId}`)
  expect(error.message).not.toBe('')
  return [Number(head.slice(9, 12)), error.code]
}

describe('a request that is not valid HTTP', () => {
  it.each([
    ['hello\r\n\r\n', 400, 'bad_request'],
    ['\u0016\u0003\u0001 hello over TLS', 400, 'bad_request'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
    ['GET /v1/health HTTP/1.1\r\nHost: HOST\r\nno colon\r\n\r\n', 400, 'bad_request'],
    ['GET /v1/health HTTP/1.1\r\nHost: HOST\r\nX: a\u0000b\r\n\r\n', 400, 'bad_request'],
    ['POST /v1/login HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n', 400, 'bad_request'],
    [
      'POST /v1/login HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'bad_request',
    ],
    [`GET /v1/health HTTP/1.1\r\nHost: HOST\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431, 'too_large'],
    ['CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n', 405, 'bad_request'],
    ['GET /v1/health HTTP/1.1\r\nHost: HOST\r\nExpect: more\r\nConnection: close\r\n\r\n', 417, 'bad_request'],
  ])('is refused with the error that every refusal has: %j', async (text, status, code) => {
    await using test = await openTestServer()
    const answer = await test.raw(text.replace('HOST', `127.0.0.1:${test.server.port}`))
    expect(parseRefusal(answer)).toEqual([status, code])
    expect((await test.call('/v1/health')).status).toBe(200)
  })

  it('because it names no host is refused like one with a wrong host', async () => {
    await using test = await openTestServer()
    const answer = await test.raw('GET /v1/health HTTP/1.1\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*"code":"wrong_host"/)
  })

  it('is refused the same way when it arrives too slowly', async () => {
    await using test = await openTestServer({ headersTimeoutMs: 50 })
    expect(parseRefusal(await test.raw('GET /v1/health HTTP/1.1\r\n'))).toEqual([408, 'bad_request'])
  })

  it('after a whole request does not hide the answer to that one', async () => {
    await using test = await openTestServer()
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.driver}`
    const answer = await test.raw(`GET /v1/access HTTP/1.1\r\n${lines}\r\n\r\nhello\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"role":"driver"/)
    expect(answer).not.toContain('HTTP/1.1 400')
  })

  it('gets one answer if its body breaks after it was refused', async () => {
    await using test = await openTestServer()
    const head = `POST /v1/clear HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect((await test.raw(`${head}1\r\n{\r\nzz\r\n`)).match(/HTTP\/1\.1 4\d\d /g)).toHaveLength(1)
    expect(test.fake.touched).toEqual([])
  })

  it('in a body that its route does not read does nothing', async () => {
    await using test = await openTestServer()
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.driver}`
    const head = `DELETE /v1/sessions/${sessionId} HTTP/1.1\r\n${lines}\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect(parseRefusal(await test.raw(`${head}1\r\n{\r\nzz\r\n`))).toEqual([400, 'bad_request'])
    expect(test.fake.touched).toEqual([])
  })

  it('is cut if its client has reset the connection', async () => {
    await using test = await openTestServer()
    const socket = connect(test.server.port, '127.0.0.1', () => socket.write('hello', () => socket.resetAndDestroy()))
    await new Promise((resolve) => socket.once('close', resolve))
    expect((await test.call('/v1/health')).status).toBe(200)
    expect(test.problems).toEqual([])
  })
})
