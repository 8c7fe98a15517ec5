import type { KeySource } from '@holdfast/protocol'
import type { Environment } from '../../system/environment.ts'
import type { Credentials } from '../credentials/credentials.ts'
import { isSendableKey } from '../credentials/credentials-file.ts'
import { localAddress, versioned, whyNoAddress } from '../services/address.ts'
import type { KnownService } from '../services/known.ts'

/** Where a service is called just now and with which key, or why it cannot be. */
export type Reach = {
  readonly service: KnownService
  readonly baseUrl: string
  /** Whether a person named the address, and not we. */
  readonly isAddressGiven: boolean
  /** Why nothing can be called there, in a sentence that says who named it. */
  readonly wrongAddress: string | null
  readonly key: ReachKey
}

export type ReachKey =
  | { readonly type: 'held'; readonly key: string; readonly from: KeySource }
  /** There is none, and it may need none. */
  | { readonly type: 'unneeded' }
  /** There is none that could be sent; `from` is where one stands that cannot. `message` says what to do. */
  | { readonly type: 'lacking'; readonly from: KeySource | null; readonly message: string }

export function reachService(service: KnownService, environment: Environment, credentials: Credentials): Reach {
  const { name, api, keyNames, sameAs = name } = service
  const found = credentials.find(sameAs, keyNames)
  const named =
    found?.baseUrl === undefined
      ? namedAddress(service, environment)
      : { address: found.baseUrl, by: `The stored address of ${service.title}` }
  return {
    service,
    baseUrl: named === null ? service.baseUrl : versioned(named.address, api),
    isAddressGiven: named !== null || service.isAddressGiven,
    wrongAddress: named && wrongAddress(named),
    key: found === undefined ? withoutKey(service, credentials) : withKey(service, found),
  }
}

export const sentKey = ({ key }: Reach): string | null => (key.type === 'held' ? key.key : null)

/** Why it cannot be called: for want of an address, or of a key. */
export const lackOf = ({ key, wrongAddress }: Reach): string | null =>
  wrongAddress ?? (key.type === 'lacking' ? key.message : null)

export const keySourceOf = ({ key }: Reach): KeySource | null => (key.type === 'unneeded' ? null : key.from)

function withKey({ title }: KnownService, { key, from }: { readonly key: string; readonly from: KeySource }): ReachKey {
  if (isSendableKey(key)) return { type: 'held', key, from }
  const place = from.type === 'file' ? `The stored key of ${title}` : from.name
  return { type: 'lacking', from, message: `${place} holds characters that no key has. Copy it again, then continue.` }
}

function withoutKey(
  { name, title, keyNames, needsKey, sameAs = name }: KnownService,
  credentials: Credentials,
): ReachKey {
  if (!needsKey) return { type: 'unneeded' }
  const trouble = credentials.trouble()
  const login = `run holdfast auth login ${sameAs}`
  const ways = keyNames.length === 0 ? login : `set ${keyNames.join(' or ')} or ${login}`
  const message = `There is no key for ${title}. ${capital(ways)}, or choose demo/agent, which needs none.${trouble === null ? '' : ` ${trouble}`}`
  return { type: 'lacking', from: null, message }
}

type NamedAddress = { readonly address: string; readonly by: string }

function namedAddress(service: KnownService, environment: Environment): NamedAddress | null {
  const { baseUrl, baseUrlNames, localHostName, isAddressGiven } = service
  for (const by of baseUrlNames) {
    const address = environment[by]?.trim() ?? ''
    if (address !== '') return { address, by }
  }
  // That variable is meant for the server; what is configured is meant for us.
  if (localHostName === undefined || isAddressGiven) return null
  const address = localAddress(environment[localHostName], baseUrl)
  return address === null ? null : { address, by: localHostName }
}

/** Not what stands there: it may be a password. */
function wrongAddress({ address, by }: NamedAddress): string | null {
  const why = whyNoAddress(address)
  return why === null ? null : `${by} is wrong: ${why}. Correct it, then continue.`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
