import type { ModelReadiness } from '@holdfast/core/ports'

/** What a person gave us to reach a service with. */
export type Access = { readonly key: string | undefined; readonly baseUrl: string | undefined }

type Unready = Extract<ModelReadiness, { readonly type: 'no_credentials' }>

/** The key, if one can be sent at all; otherwise what to tell the person. */
export function usableKey(service: string, keyName: string, key: string | undefined): string | Unready {
  const apiKey = key?.trim() ?? ''
  if (apiKey === '') {
    return {
      type: 'no_credentials',
      message: `There is no key for ${service}. Set ${keyName}, or choose demo/agent, which needs none.`,
    }
  }
  // Such a key cannot be sent in a header at all; better said here than by the network library.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    return {
      type: 'no_credentials',
      message: `${keyName} holds characters that no key has. Copy it again, then continue.`,
    }
  }
  return apiKey
}

/** An address as it may be shown: people put passwords and keys into them. */
export function shownAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/** People give an address with or without the version of its API. One with a path of its own is taken as it is. */
export function versioned(baseUrl: string | undefined, host: string, version: string): string {
  const address = baseUrl?.trim().replace(/\/+$/, '') || host
  const path = URL.canParse(address) ? new URL(address).pathname : '/'
  return path === '/' ? `${address}/${version}` : address
}
