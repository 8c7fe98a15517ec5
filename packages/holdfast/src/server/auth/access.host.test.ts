import { describe, expect, it } from 'vitest'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { createServerAddress } from './server-address.ts'

describe('the Host header', () => {
  it('is checked before the token', async () => {
    await using test = await openTestServer()
    const { port } = test.server
    const ask = (...hosts: string[]) => {
      const lines = [...hosts.map((host) => `Host: ${host}`), `Authorization: Bearer ${test.tokens.admin}`]
      return test.raw(`GET /v1/sessions HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`)
    }
    for (const good of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
      expect(await ask(`${good}:${port}`)).toMatch(/^HTTP\/1.1 200 /)

    const bad = ['attacker.example', 'localhost.evil.com', '127.0.0.1.nip.io', '0.0.0.0', 'x@localhost']
    const wrong = [...bad.map((name) => `${name}:${port}`), 'localhost', `localhost:${port + 1}`, '']
    for (const host of wrong) {
      const answer = await ask(host)
      expect([host, answer.slice(0, 12)]).toEqual([host, 'HTTP/1.1 403'])
      expect(answer).toContain('"code":"wrong_host"')
    }
    expect(await ask(`localhost:${port}`, 'attacker.example')).toMatch(/^HTTP\/1.1 4/)
    expect(await ask(`localhost:${port}`, `localhost:${port}`)).toMatch(/^HTTP\/1.1 4/)
    expect(await ask()).toMatch(/^HTTP\/1.1 4/)
    expect(test.fake.touched).toHaveLength(4)
  })

  it('is checked on open routes and files too', async () => {
    await using test = await openTestServer()
    for (const path of ['/', '/v1/health', '/login?code=x'])
      expect(await test.raw(`GET ${path} HTTP/1.1\r\nHost: attacker.example\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /)
  })

  it('may be a configured name', () => {
    const address = createServerAddress('192.168.1.5', 4820, ['https://holdfast.example.com'])
    for (const host of ['192.168.1.5:4820', 'holdfast.example.com', 'localhost:4820'])
      expect(address.checkRequest({ rawHeaders: ['Host', host], url: '/' })).toBeNull()
    expect(address.checkRequest({ rawHeaders: ['Host', '192.168.1.6:4820'], url: '/' })?.code).toBe('wrong_host')
    expect(address.checkOrigin('https://holdfast.example.com')).toBeNull()
    expect(address.checkOrigin('http://holdfast.example.com')?.code).toBe('wrong_origin')
  })

  it('accepts only loopback names when listening on all interfaces', () => {
    const address = createServerAddress('0.0.0.0', 4820)
    expect(address.checkRequest({ rawHeaders: ['host', '0.0.0.0:4820'], url: '/' })?.code).toBe('wrong_host')
    expect(address.checkRequest({ rawHeaders: ['host', '127.0.0.1:4820'], url: '/' })).toBeNull()
  })
})

describe('the Origin header', () => {
  it('must match exactly', async () => {
    await using test = await openTestServer()
    const ask = (origin: string) =>
      test.call('/v1/sessions', { headers: { authorization: `Bearer ${test.tokens.admin}`, origin } })
    expect((await ask(test.server.url)).status).toBe(200)
    const { port } = test.server
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost.evil.com:${port}`,
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}.evil.com`,
      'http://127.0.0.1',
      '',
    ]) {
      const response = await ask(origin)
      expect([origin, response.status]).toEqual([origin, 403])
      expect(await codeOf(response)).toBe('wrong_origin')
    }
    expect(test.fake.touched).toHaveLength(1)
  })
})
