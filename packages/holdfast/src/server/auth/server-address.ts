import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '@holdfast/protocol'

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
const dotSegment = /\/(\.|%2e){1,2}(\/|$)/i

export const isLoopback = (host: string): boolean => host === '::1' || loopbackNames.includes(host)

/** Returns a host as a URL writes it: an IPv6 address in brackets. */
export const urlHost = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** Checks that a request is meant for this server, and that a browser sent it from one of our pages. */
export interface ServerAddress {
  /**
   * Checks Host and path on the request as sent, before a library normalizes it. DNS rebinding sends no Origin but cannot
   * fake Host, and a URL parser would resolve `..` to another route.
   */
  checkRequest(request: Pick<IncomingMessage, 'rawHeaders' | 'url'>): Fault | null
  /** Compares exactly: a prefix would allow `http://localhost.evil.example`. No Origin: no browser, or a same-origin read. */
  checkOrigin(origin: string | null): Fault | null
}

export type ServerAddressDeps = {
  readonly host: string
  readonly port: number
  /** Origins under which a proxy serves us, e.g. `https://holdfast.example.com`. */
  readonly publicOrigins: readonly string[]
}

export function createServerAddress({ host, port, publicOrigins }: ServerAddressDeps): ServerAddress {
  const names = ['0.0.0.0', '::'].includes(host) ? loopbackNames : [...loopbackNames, urlHost(host).toLowerCase()]
  const origins = new Set([...names.map((name) => new URL(`http://${name}:${port}`).origin), ...publicOrigins])
  const hosts = new Set([...names.map((name) => `${name}:${port}`), ...[...origins].map((one) => new URL(one).host)])

  return {
    checkRequest({ rawHeaders, url = '' }) {
      const sent: string[] = []
      for (let at = 0; at + 1 < rawHeaders.length; at += 2)
        if (rawHeaders[at]?.toLowerCase() === 'host') sent.push(rawHeaders[at + 1]?.toLowerCase() ?? '')
      if (sent.length !== 1 || !hosts.has(sent[0] ?? ''))
        return fault('wrong_host', 'This server does not use that host name. Use the address it printed at startup.')
      if (!url.startsWith('/')) return fault('bad_request', 'The request target must be a path.')
      const [path = ''] = url.split('?', 1)
      if (dotSegment.test(path) || path.includes('\\'))
        return fault('bad_id', 'A path must not contain `.`, `..` or a backslash.')
      return null
    },

    checkOrigin(origin) {
      if (origin === null || origins.has(origin)) return null
      return fault('wrong_origin', 'In a browser, only the pages of this server may call it.')
    },
  }
}
