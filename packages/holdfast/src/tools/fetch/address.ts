import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** IPv6 addresses that are routed on the internet. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Public addresses at which clouds serve their machines with keys and settings: that of Azure. */
const cloudServices = new Set(['168.63.129.16'])

/** Returns whether an IP address is on the public internet: not of this machine, a private network or a tunnel. */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIP(bare) === 0) return false
  const parsed = ipaddr.process(bare) // ::ffff:127.0.0.1 is 127.0.0.1
  if (parsed.range() !== 'unicast' || cloudServices.has(parsed.toString())) return false
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast)
}
