import type { Api } from './api.ts'

const isCalled = /^https?:$/

/** An address as it may be shown: people put passwords and keys into them. */
export function shownAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, origin, pathname } = new URL(address)
  return isCalled.test(protocol) ? `${origin}${pathname}` : undefined
}

/** Why nothing can be called at an address, with its path behind it; null when something may be. */
export function whyNoAddress(given: string): string | null {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !isCalled.test(url.protocol)) return 'an address begins with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'an address has no user and no password in it'
  return /[?#]/.test(given) ? 'an address has no query and no fragment behind it' : null
}

/** People give an address with or without the version of its API. One with a path of its own is taken as it is. */
export function versioned(given: string, api: Api): string {
  const address = given.trim().replace(/\/+$/, '')
  const version = api === 'google' ? 'v1beta' : 'v1'
  const path = URL.canParse(address) ? new URL(address).pathname : '/'
  // Anthropic's own tools take the address without its version, behind a path as well.
  const isBare = path === '/' || (api === 'anthropic' && !path.endsWith('/v1'))
  return isBare ? `${address}/${version}` : address
}

/** Whether what is called there stays on this machine. */
export function isOnThisMachine(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { hostname } = new URL(address)
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** `host:port` as a server on this machine reads it, as an address; null when it names another machine, or nothing. */
export function localAddress(hostAndPort: string | undefined, usual: string): string | null {
  const given = hostAndPort?.trim() ?? ''
  if (given === '') return null
  const withHost = given.startsWith(':') ? `127.0.0.1${given}` : given
  const address = withHost.includes('://') ? withHost : `http://${withHost}`
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  // Where a server listens for everyone, it is reached from here as well.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.port === '' && !withHost.includes('://')) url.port = new URL(usual).port
  const local = url.href.replace(/\/+$/, '')
  return isOnThisMachine(local) ? local : null
}
