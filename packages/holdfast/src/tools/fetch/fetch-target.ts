import { isIP } from 'node:net'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { isPublicAddress } from './address.ts'

/** A URL that may be fetched. */
export type FetchTarget = {
  readonly url: URL
  /** The user's configuration allows this host, wherever it is. */
  readonly isAllowedHost: boolean
}

/** Checks a URL, from the model or from a redirect. `allowedHosts` are `host` or `host:port`, private ones too. */
export function checkTarget(text: string, allowedHosts: readonly string[], base?: URL): Result<FetchTarget> {
  const url = URL.parse(text, base?.href)
  if (url === null) return refuse(fault('bad_request', `${escapeLine(text)} is not a URL`))
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse(
      fault('bad_request', `fetch_url reads http and https URLs only, not ${escapeLine(url.protocol)}${hintFor(text)}`),
    )
  if (url.username !== '' || url.password !== '')
    return refuse(fault('bad_request', 'the URL must not hold a user name or a password'))
  url.hash = ''
  const isAllowedHost = allowedHosts.some((host) => host === url.hostname || host === url.host)
  if (isAllowedHost) return ok({ url, isAllowedHost })
  if (url.port !== '') {
    const message = `port ${url.port} is not allowed: only 80 and 443 are. To allow it, add "${url.host}" to fetchHosts in the configuration`
    return refuse(fault('bad_request', message))
  }
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0 && !isPublicAddress(bare)) return refuse(privateAddress(url.hostname))
  return ok({ url, isAllowedHost })
}

/** Says how to write an address such as `localhost:8000`, whose host was read as a protocol. */
const hintFor = (text: string): string =>
  /^[\w.-]+:\d+(?:\/|$)/.test(text) ? `. Begin with http:// or https://, as in http://${escapeLine(text)}` : ''

/** The fault for a host on this machine or in a private network. */
export const privateAddress = (host: string) =>
  fault(
    'private_address',
    `${escapeLine(host)} is on this machine or in a private network. To allow it, add it to fetchHosts in the configuration.`,
    { host },
  )
