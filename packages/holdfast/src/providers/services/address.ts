import type { Api } from './presets.ts'

const httpProtocol = /^https?:$/

/** Removes user, password and query from an address, so that it can be shown. Undefined if it is not an HTTP address. */
export function redactAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, origin, pathname } = new URL(address)
  return httpProtocol.test(protocol) ? `${origin}${pathname}` : undefined
}

/** Returns why an address cannot be used as a base URL; null if it can. */
export function findAddressProblem(given: string): string | null {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !httpProtocol.test(url.protocol)) return 'an address must begin with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'an address must have no user and no password'
  return /[?#]/.test(given) ? 'an address must have no query and no fragment' : null
}

/** Adds the version of the API to an address that has no path of its own. */
export function addApiVersion(given: string, api: Api): string {
  const address = given.trim().replace(/(?<!\/)\/+$/, '')
  const version = api === 'google' ? 'v1beta' : 'v1'
  const path = URL.canParse(address) ? new URL(address).pathname : '/'
  // Anthropic's own tools expect the address without its version, even behind a path.
  const isUnversioned = path === '/' || (api === 'anthropic' && !path.endsWith('/v1'))
  return isUnversioned ? `${address}/${version}` : address
}

export function isLocalAddress(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { hostname } = new URL(address)
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Turns `host:port`, as a local server reads it, into an address; null if it names another machine or nothing. */
export function parseLocalAddress(hostAndPort: string | undefined, defaultAddress: string): string | null {
  const given = hostAndPort?.trim() ?? ''
  if (given === '') return null
  const withHost = given.startsWith(':') ? `127.0.0.1${given}` : given
  const address = withHost.includes('://') ? withHost : `http://${withHost}`
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  // A server that listens on all interfaces is reachable through loopback too.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.port === '' && !withHost.includes('://')) url.port = new URL(defaultAddress).port
  const local = url.href.replace(/(?<!\/)\/+$/, '')
  return isLocalAddress(local) ? local : null
}
