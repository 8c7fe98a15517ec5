import type { IncomingMessage } from 'node:http'
import { networkInterfaces } from 'node:os'
import { type Fault, fault } from '@holdfast/protocol'

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const dotSegment = /\/(\.|%2e){1,2}(\/|$)/i

export const isLoopback = (host: string): boolean => host === '::1' || loopbackNames.includes(host)

/** Returns a host as a URL writes it: an IPv6 address in brackets. */
export const urlHost = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** Returns whether a host means every address of this machine. */
export const isEveryAddress = (host: string): boolean => ['0.0.0.0', '::', '[::]'].includes(host)

/** Returns the network interfaces of this machine, as `node:os` lists them. */
export type ListInterfaces = typeof networkInterfaces

/** Returns the addresses under which other machines on the network reach this one, as a URL writes them. */
export const networkAddresses = (host: string, list: ListInterfaces = networkInterfaces): readonly string[] =>
  Object.values(list())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family, scopeid }) => !internal && !scopeid && (family === 'IPv4' || host.includes(':')))
    .map(({ address }) => urlHost(address).toLowerCase())

export type ServerAddress = ReturnType<typeof createServerAddress>

const wrongHost =
  'This server does not use that host name. Use the address it printed at startup. Behind a proxy, start it with --public-url and the address that clients use.'

/** Checks that a request is meant for this server, and that a browser sent it from one of our pages. */
export function createServerAddress(
  host: string,
  port: number,
  publicOrigins: readonly string[] = [],
  interfaces: ListInterfaces = networkInterfaces,
) {
  const isEvery = isEveryAddress(host)
  const names = isEvery ? loopbackNames : [...loopbackNames, urlHost(host).toLowerCase()]
  const origins = new Set([...names.map((name) => new URL(`http://${name}:${port}`).origin), ...publicOrigins])
  const hosts = new Set([...names.map((name) => `${name}:${port}`), ...[...origins].map((one) => new URL(one).host)])
  // Asked each time: a machine changes its network. An attacker's name that resolves here is still no address.
  const isOwnHost = (sent: string) =>
    hosts.has(sent) || (isEvery && networkAddresses(host, interfaces).some((address) => sent === `${address}:${port}`))
  const isOwnOrigin = (origin: string) =>
    origins.has(origin) ||
    (isEvery && networkAddresses(host, interfaces).some((one) => origin === `http://${one}:${port}`))

  return {
    /** Checks the request as sent. DNS rebinding cannot fake Host; a URL parser would resolve `..` to another route. */
    checkRequest({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): Fault | null {
      const sent: string[] = []
      for (let at = 0; at + 1 < rawHeaders.length; at += 2)
        if (rawHeaders[at]?.toLowerCase() === 'host') sent.push(rawHeaders[at + 1]?.toLowerCase() ?? '')
      if (sent.length !== 1 || !isOwnHost(sent[0] ?? '')) return fault('wrong_host', wrongHost)
      if (!url.startsWith('/')) return fault('bad_request', 'The request target must be a path.')
      const [path = ''] = url.split('?', 1)
      if (dotSegment.test(path) || path.includes('\\'))
        return fault('bad_id', 'A path must not contain `.`, `..` or a backslash.')
      return null
    },

    /** Compares exactly: a prefix would allow `http://localhost.evil.example`. Only browsers send an Origin. */
    checkOrigin(origin: string | null): Fault | null {
      if (origin === null || isOwnOrigin(origin)) return null
      return fault('wrong_origin', 'In a browser, only the pages of this server may call it.')
    },
  }
}
