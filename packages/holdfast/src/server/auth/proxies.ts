import { BlockList, isIP } from 'node:net'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'

/** What the proxies in front of the server say about a request. Nobody else's word counts. */
export type Proxies = {
  /** Returns the address of the client: the nearest one that is no trusted proxy. */
  remoteOf(peer: string, headers: Headers): string
  /** Returns whether the client speaks HTTPS with the proxy. */
  isSecure(peer: string, headers: Headers): boolean
}

/** Reads the addresses of trusted proxies: `127.0.0.1`, `::1` or a network such as `10.0.0.0/8`. Refused: bad_request. */
export function createProxies(trusted: readonly string[]): Result<Proxies> {
  const known = new BlockList()
  for (const one of trusted) {
    const [address = '', bits, ...rest] = one.split('/')
    const version = isIP(address)
    const max = version === 4 ? 32 : 128
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max)
    if (version === 0 || !isNetwork || rest.length > 0) return refuse(badProxy(one))
    known.addSubnet(address, bits === undefined ? max : Number(bits), version === 4 ? 'ipv4' : 'ipv6')
  }
  const isTrusted = (address: string) => {
    const version = isIP(address)
    return version !== 0 && known.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
  return ok({
    remoteOf(peer, headers) {
      let remote = plainAddress(peer)
      const hops = (headers.get('x-forwarded-for') ?? '').split(',').map((hop) => plainAddress(hop.trim()))
      while (isTrusted(remote)) {
        const hop = hops.pop()
        if (hop === undefined || isIP(hop) === 0) break
        remote = hop
      }
      return remote
    },
    isSecure: (peer, headers) =>
      isTrusted(plainAddress(peer)) && headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim() === 'https',
  })
}

/** Returns an IPv4 address without the prefix that it has on a socket for both versions. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

const badProxy = (given: string) => {
  const message = `${escapeLine(given.slice(0, 100))} is no address of a proxy. Give one such as 127.0.0.1 or 10.0.0.0/8.`
  return fault('bad_request', message, { given: given.slice(0, 100) })
}
