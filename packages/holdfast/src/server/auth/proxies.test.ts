import { describe, expect, it } from 'vitest'
import { createProxies } from './proxies.ts'

const proxiesOf = (...trusted: string[]) => {
  const proxies = createProxies(trusted)
  if (!proxies.ok) throw new Error(proxies.fault.message)
  return proxies.value
}
const forwarded = (hops: string, proto = 'https') =>
  new Headers({ 'x-forwarded-for': hops, 'x-forwarded-proto': proto })

describe('trusted proxies', () => {
  it('tell the address of the client, and nobody else does', () => {
    const proxies = proxiesOf('127.0.0.1', '10.0.0.0/8', '::1')
    expect(proxies.remoteOf('127.0.0.1', forwarded('203.0.113.9'))).toBe('203.0.113.9')
    expect(proxies.remoteOf('::ffff:127.0.0.1', forwarded('203.0.113.9'))).toBe('203.0.113.9')
    expect(proxies.remoteOf('198.51.100.1', forwarded('203.0.113.9'))).toBe('198.51.100.1')
    expect(proxiesOf().remoteOf('127.0.0.1', forwarded('203.0.113.9'))).toBe('127.0.0.1')
  })

  it('skip only trusted hops: what a client writes itself does not count', () => {
    const proxies = proxiesOf('127.0.0.1', '10.0.0.0/8')
    expect(proxies.remoteOf('127.0.0.1', forwarded('1.1.1.1, 203.0.113.9, 10.1.2.3'))).toBe('203.0.113.9')
    expect(proxies.remoteOf('127.0.0.1', forwarded('nonsense'))).toBe('127.0.0.1')
    expect(proxies.remoteOf('127.0.0.1', new Headers())).toBe('127.0.0.1')
  })

  it('tell whether the client speaks HTTPS', () => {
    const proxies = proxiesOf('127.0.0.1')
    expect(proxies.isSecure('127.0.0.1', forwarded('203.0.113.9'))).toBe(true)
    expect(proxies.isSecure('127.0.0.1', forwarded('203.0.113.9', 'http'))).toBe(false)
    expect(proxies.isSecure('198.51.100.1', forwarded('203.0.113.9'))).toBe(false)
  })

  it.each(['', 'proxy.example', '10.0.0.0/33', '10.0.0.0/8/1', '::1/129', '10.0.0', '1.2.3.4/x'])(
    'are not %j',
    (given) => {
      expect(createProxies([given])).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    },
  )
})
