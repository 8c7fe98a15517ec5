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

  const ofAll = (host: string) => {
    const address = createServerAddress(host, 4820, [], interfaces)
    return (sent: string) => [
      address.checkRequest({ rawHeaders: ['host', sent], url: '/' })?.code ?? 'ok',
      address.checkOrigin(`http://${sent}`)?.code ?? 'ok',
    ]
  }
  const own = ['ok', 'ok']
  const foreign = ['wrong_host', 'wrong_origin']

  it('may be a loopback name or an address of the machine when listening on all interfaces', () => {
    const check = ofAll('0.0.0.0')
    for (const sent of ['127.0.0.1:4820', 'localhost:4820', '192.168.1.5:4820']) expect(check(sent)).toEqual(own)
    for (const sent of [
      ...['0.0.0.0:4820', '192.168.1.6:4820', '192.168.1.5:4821', '192.168.1.5', '192.168.1.5.nip.io:4820'],
      ...['machine.local:4820', '[2001:db8::5]:4820', '127.0.0.2:4820'],
    ])
      expect([sent, ...check(sent)]).toEqual([sent, ...foreign])
  })

  it('may be an IPv6 address too when listening on all of these, but none that holds on one link only', () => {
    const check = ofAll('::')
    for (const sent of ['[2001:db8::5]:4820', '192.168.1.5:4820', '[::1]:4820']) expect(check(sent)).toEqual(own)
    for (const sent of ['[::]:4820', '[fe80::5]:4820', '[2001:db8::6]:4820'])
      expect([sent, ...check(sent)]).toEqual([sent, ...foreign])
  })

  it('follows the machine to another network', () => {
    let address = '192.168.1.5'
    const server = createServerAddress('0.0.0.0', 4820, [], () => ({ eth0: [ipv4(address)] }))
    const check = (host: string) => server.checkRequest({ rawHeaders: ['host', `${host}:4820`], url: '/' })?.code
    expect([check('192.168.1.5'), check('10.0.0.7')]).toEqual([undefined, 'wrong_host'])
    address = '10.0.0.7'
    expect([check('192.168.1.5'), check('10.0.0.7')]).toEqual(['wrong_host', undefined])
  })

  it('and links for other devices have the address of the machine, unless there is a public one', async () => {
    await using test = await openTestServer({ host: '0.0.0.0', interfaces })
    const { port } = test.server
    expect(test.server.loginLink()).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/login\\?code=`))
    const link = test.server.networkLoginLink() ?? ''
    expect(link).toMatch(new RegExp(`^http://192\\.168\\.1\\.5:${port}/login\\?code=`))
    const { pathname, search } = new URL(link)
    const ask = (host: string) =>
      test.raw(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`)
    expect(await ask('192.168.1.6')).toMatch(/^HTTP\/1.1 403 /)
    expect(await ask('192.168.1.5')).toMatch(/^HTTP\/1.1 303 /)
    const authorization = `Bearer ${test.tokens.admin}`
    const statusFrom = async (origin: string) =>
      (await test.call('/v1/sessions', { headers: { authorization, origin } })).status
    expect([await statusFrom(`http://192.168.1.5:${port}`), await statusFrom(`http://192.168.1.6:${port}`)]).toEqual([
      200, 403,
    ])

    const publicOrigins = ['https://holdfast.example.com']
    await using proxied = await openTestServer({ host: '0.0.0.0', interfaces, publicOrigins })
    expect(proxied.server.networkLoginLink()).toMatch(/^https:\/\/holdfast\.example\.com\/login\?code=/)
    await using alone = await openTestServer({ host: '0.0.0.0', interfaces: () => ({ lo: interfaces()['lo'] }) })
    expect(alone.server.networkLoginLink()).toBeNull()
  })
})

const ipv4 = (address: string, internal = false) => ({
  address,
  internal,
  family: 'IPv4' as const,
  netmask: '255.255.255.0',
  mac: '00:00:00:00:00:00',
  cidr: null,
})
const ipv6 = (address: string, scopeid: number, internal = false) => ({
  address,
  internal,
  scopeid,
  family: 'IPv6' as const,
  netmask: 'ffff::',
  mac: '00:00:00:00:00:00',
  cidr: null,
})
/** The network interfaces of a machine with one address of each kind. */
const interfaces = () => ({
  lo: [ipv4('127.0.0.1', true), ipv4('127.0.0.2', true), ipv6('::1', 0, true)],
  eth0: [ipv4('192.168.1.5'), ipv6('2001:DB8::5', 0), ipv6('fe80::5', 2)],
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
