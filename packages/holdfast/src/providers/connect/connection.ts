import type { KeySource } from '@holdfast/protocol'
import type { Environment } from '../../system/home.ts'
import { type Credentials, type FoundKey, isSendableKey } from '../credentials/credentials.ts'
import { addApiVersion, findAddressProblem, parseLocalAddress } from '../services/address.ts'
import type { Service } from '../services/registry.ts'

/** Where a service is called and with which key, or why it cannot be called. */
export type Connection = {
  readonly service: Service
  readonly baseUrl: string
  /** Whether a person set the address. */
  readonly isAddressGiven: boolean
  /** Why the address is unusable, with the name of its source. */
  readonly addressProblem: string | null
  readonly key: ConnectionKey
}

type ConnectionKey =
  | { readonly type: 'found'; readonly key: string; readonly from: KeySource }
  | { readonly type: 'optional' }
  /** `from` is the source of an unusable key; null if there is none at all. */
  | { readonly type: 'missing'; readonly from: KeySource | null; readonly message: string }

export function resolveConnection(service: Service, environment: Environment, credentials: Credentials): Connection {
  const { name, title, api, keyNames, sameAs = name } = service
  const found = credentials.find(sameAs, keyNames)
  const stored = found?.baseUrl && { address: found.baseUrl, from: `The stored address of ${title}` }
  const given = stored || findAddress(service, environment)
  const problem = given && findAddressProblem(given.address)
  return {
    service,
    baseUrl: given === null ? service.baseUrl : addApiVersion(given.address, api),
    isAddressGiven: given !== null || service.isAddressGiven,
    // Without the address itself: it may contain a password.
    addressProblem: given && problem && `${given.from} is wrong: ${problem}. Correct it, then continue.`,
    key: found === undefined ? explainMissingKey(service, credentials) : checkKeyCharacters(service, found),
  }
}

export const keyOf = ({ key }: Connection): string | null => (key.type === 'found' ? key.key : null)

/** Returns why a service cannot be called: its address or its key. */
export const findConnectionProblem = ({ key, addressProblem }: Connection): string | null =>
  addressProblem ?? (key.type === 'missing' ? key.message : null)

export const keySourceOf = ({ key }: Connection): KeySource | null => (key.type === 'optional' ? null : key.from)

function checkKeyCharacters({ title }: Service, { key, from }: FoundKey): ConnectionKey {
  if (isSendableKey(key)) return { type: 'found', key, from }
  const source = from.type === 'file' ? `The stored key of ${title}` : from.name
  return { type: 'missing', from, message: `${source} has characters that no key has. Copy it again, then continue.` }
}

function explainMissingKey(service: Service, credentials: Credentials): ConnectionKey {
  const { name, title, keyNames, needsKey, sameAs = name } = service
  if (!needsKey) return { type: 'optional' }
  const names = keyNames.join(' or ')
  const next = `${names === '' ? 'Run' : `Set ${names} or run`} holdfast auth login ${sameAs}`
  const message = `There is no key for ${title}. ${next}, or choose demo/agent, which needs none.`
  return { type: 'missing', from: null, message: `${message} ${credentials.fileProblem() ?? ''}`.trimEnd() }
}

/** Returns the address that the environment sets, with the variable's name. */
function findAddress(service: Service, environment: Environment): { address: string; from: string } | null {
  const { baseUrl, baseUrlNames, localHostName, isAddressGiven } = service
  for (const from of baseUrlNames) {
    const address = environment[from]?.trim() ?? ''
    if (address !== '') return { address, from }
  }
  // This variable configures the server, so the config for us goes before it.
  if (localHostName === undefined || isAddressGiven) return null
  const address = parseLocalAddress(environment[localHostName], baseUrl)
  return address === null ? null : { address, from: localHostName }
}
