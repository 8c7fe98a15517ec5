import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { checkKey, type KeyCheck } from './check-key.ts'

const key = `made-check-${'X0'.repeat(12)}`
let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = []
  const listening = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  server = listening
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  // It listens on a port.
  const { port } = listening.address() as AddressInfo
  return { asked, baseUrl: `http://127.0.0.1:${port}/v1` }
}

const answering = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  serve((_, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body)),
  )

/** By API; OpenRouter has its own key path. */
const ask = (baseUrl: string, api: KeyCheck['api'] = 'responses', keyPath?: string) =>
  checkKey({ title: 'Box', api, baseUrl, key, keyPath })

describe('checkKey', () => {
  it.each([
    ['anthropic', undefined, 'GET /v1/models?limit=1', 'x-api-key', key],
    ['responses', undefined, 'GET /v1/models', 'authorization', `Bearer ${key}`],
    ['google', undefined, 'GET /v1/models?pageSize=1', 'x-goog-api-key', key],
    ['chat', '/key', 'GET /v1/key', 'authorization', `Bearer ${key}`],
  ] as const)('sends one free request to %s, with its key path: %s', async (api, keyPath, call, header, value) => {
    let sent: unknown
    const { asked, baseUrl } = await serve(({ headers }, response) => {
      sent = headers[header]
      response.end('{"data":[]}')
    })
    expect(await ask(`${baseUrl}/`, api, keyPath)).toEqual({ type: 'accepted', account: null, note: null })
    expect([asked, sent]).toEqual([[call], value])
  })

  it.each([
    ['anthropic', { 'anthropic-organization-id': 'org-1' }, { data: [] }, 'org-1'],
    ['responses', { 'openai-organization': 'user-2' }, { data: [] }, 'user-2'],
    ['google', {}, { models: [{ name: 'models/one' }] }, null],
    ['chat', {}, [{ id: 'one' }], null],
    ['chat', {}, { data: { label: 'laptop\u001b[2J' } }, 'laptop\\u{1b}[2J'],
    ['chat', {}, { data: { label: 'sk-or-v1-abc...def' } }, null],
  ] as const)('reads the account of %s, if it is named: %j %j', async (api, headers, body, account) => {
    const { baseUrl } = await answering(200, body, headers)
    expect(await ask(baseUrl, api)).toMatchObject({ type: 'accepted', account })
  })

  it.each([
    [401, { error: { message: `bad key ${key}` } }, 'rejected', 'rejected this key'],
    [400, { error: { details: [{ reason: 'API_KEY_INVALID' }] } }, 'rejected', 'rejected this key'],
    [403, '<html>Access denied by your company</html>', 'unknown', 'probably not by Box. Check the address'],
    [403, {}, 'unknown', 'probably not by Box. Check the address'],
    [404, 'not here', 'unknown', 'Check the address'],
    [200, '<html>', 'unknown', 'Check the address'],
    [200, {}, 'unknown', 'Check the address'],
    [200, 'null', 'unknown', 'Check the address'],
    [200, { status: 'ok' }, 'unknown', 'Check the address'],
    [429, {}, 'unknown', 'cannot check the key now'],
    [503, {}, 'unknown', 'cannot check the key now'],
  ])('maps HTTP %i with %j to %s', async (status, body, type, words) => {
    const { baseUrl } = await answering(status, body)
    const verdict = await ask(baseUrl)
    expect(verdict).toMatchObject({ type, message: expect.stringContaining(words) })
    expect(JSON.stringify(verdict)).not.toContain(key)
  })

  it.each([
    ['a long page', () => `<html>${'x'.repeat(300 * 1024)}`, 'unknown'],
    ['what has no end', () => `{"data":[{"id":"${'x'.repeat(5 * 1024 * 1024)}"}]}`, 'unknown'],
    ['a long list', () => JSON.stringify({ data: [{ id: 'x'.repeat(300 * 1024) }] }), 'accepted'],
  ])('accepts the list format of %s', async (_, body, type) => {
    const { baseUrl } = await answering(200, body())
    expect(await ask(baseUrl)).toMatchObject({ type })
  })

  it('accepts a restricted key with a note', async () => {
    const { baseUrl } = await answering(403, { error: { message: 'Missing scopes' } })
    expect(await ask(baseUrl)).toMatchObject({ type: 'accepted', note: expect.stringContaining('restricted') })
  })

  it('does not send the key to a redirect', async () => {
    const { asked, baseUrl } = await serve((_, response) => response.writeHead(302, { location: '/stolen' }).end())
    expect(await ask(baseUrl)).toMatchObject({ type: 'unknown' })
    expect(asked).toEqual(['GET /v1/models'])
  })

  it('distinguishes unreachable from rejected, without showing secrets of the address', async () => {
    const { baseUrl } = await answering(200, {})
    server?.close()
    const address = baseUrl.replace('//', '//user:hush@')
    const verdict = await ask(address.replace('user:hush@', ''))
    expect(verdict).toMatchObject({ type: 'unknown', message: expect.stringContaining('Nothing listens at 127.0.0.1') })
    expect(JSON.stringify(await ask(address))).not.toContain('hush')
  })
})
