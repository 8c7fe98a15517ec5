import { type Fault, fault } from '@holdfast/protocol'

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

export const isLoopback = (host: string): boolean => ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host)

/** A host as it stands in a URL: an IPv6 address goes in brackets. */
export const urlHost = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** Under which names this server answers, and so which pages are its own. */
export interface OwnAddress {
  /** A page that rebinds its name to our address sends no Origin, but it cannot lie about Host: this is the gate. */
  checkHost(rawHeaders: readonly string[]): Fault | null
  /** Exact, as a prefix would let `http://localhost.evil.example` in. No Origin is no browser, or a same-origin read. */
  checkOrigin(origin: string | undefined): Fault | null
}

export type OwnAddressDeps = {
  readonly host: string
  readonly port: number
  /** Where a proxy makes us known, e.g. `https://holdfast.example.com`. */
  readonly publicOrigins: readonly string[]
}

export function createOwnAddress({ host, port, publicOrigins }: OwnAddressDeps): OwnAddress {
  const names = ['0.0.0.0', '::'].includes(host) ? loopbackNames : [...loopbackNames, urlHost(host).toLowerCase()]
  const origins = new Set([...names.map((name) => new URL(`http://${name}:${port}`).origin), ...publicOrigins])
  const hosts = new Set([...names.map((name) => `${name}:${port}`), ...[...origins].map((one) => new URL(one).host)])

  return {
    checkHost(rawHeaders) {
      const sent = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host')
      const [only] = sent
      if (sent.length === 1 && only !== undefined && hosts.has(only.toLowerCase())) return null
      return fault(
        'wrong_host',
        'This server does not answer under that name; use the address it printed at its start.',
      )
    },

    checkOrigin(origin) {
      if (origin === undefined || origins.has(origin)) return null
      return fault('wrong_origin', 'Only the pages of this server may call it from a browser.')
    },
  }
}
