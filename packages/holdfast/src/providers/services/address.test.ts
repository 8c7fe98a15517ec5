import { expect, it } from 'vitest'
import { addApiVersion, findAddressProblem, isLocalAddress, parseLocalAddress, redactAddress } from './address.ts'

const usual = 'http://127.0.0.1:11434/v1'

it.each([
  ['127.0.0.1:9', 'http://127.0.0.1:9'],
  ['localhost', 'http://localhost:11434'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  [':8080', 'http://127.0.0.1:8080'],
  ['http://localhost:7/', 'http://localhost:7'],
  ['[::]:3', 'http://127.0.0.1:3'],
  ['192.168.1.5:11434', null],
  ['ollama.example', null],
  ['127.0.0.1.example', null],
  ['', null],
  ['not an address', null],
])('parses %j as the local address %j', (given, address) => {
  expect(parseLocalAddress(given, usual)).toBe(address)
})

it('recognizes local addresses', () => {
  for (const address of ['http://localhost:1', 'http://127.1.2.3/v1', 'http://[::1]:5', 'http://a.localhost'])
    expect(isLocalAddress(address), address).toBe(true)
  for (const address of ['http://127.0.0.1.example', 'http://10.0.0.1', 'https://localhost.example', 'nonsense'])
    expect(isLocalAddress(address), address).toBe(false)
})

it('removes secrets from an address', () => {
  expect(redactAddress('https://me:secret@host.example/v1?key=secret#secret')).toBe('https://host.example/v1')
  expect(redactAddress('nonsense')).toBeUndefined()
})

it('adds the API version to an address without a path', () => {
  expect(addApiVersion('http://host/', 'chat')).toBe('http://host/v1')
  expect(addApiVersion('http://host', 'google')).toBe('http://host/v1beta')
  expect(addApiVersion('http://host/openai/', 'chat')).toBe('http://host/openai')
  expect(addApiVersion('http://host/proxy', 'anthropic')).toBe('http://host/proxy/v1')
})

it.each([
  ['not a url', 'must begin with http'],
  ['file:///etc/passwd', 'must begin with http'],
  ['http://', 'must begin with http'],
  ['https://me@host.example', 'no user'],
  ['https://me:secret@host.example/v1', 'no user'],
  ['https://host.example/v1?key=secret', 'no query'],
  ['https://host.example/v1?', 'no query'],
  ['https://host.example/v1#part', 'no fragment'],
])('refuses the address %s', (address, why) => {
  expect(findAddressProblem(address)).toContain(why)
  expect(findAddressProblem(address)).not.toContain('secret')
})

it('accepts plain addresses', () => {
  for (const address of ['http://localhost:1', 'https://host.example/some/path/v1/', 'http://[::1]:5'])
    expect(findAddressProblem(address), address).toBeNull()
})
