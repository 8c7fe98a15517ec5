import { type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { isOnThisMachine, versioned, whyNoAddress } from './address.ts'
import type { Api } from './api.ts'
import { type Preset, presets } from './presets.ts'

/** What a person says of a service: one of their own, or something else about one we know. */
export type GivenService = {
  readonly title?: string | undefined
  readonly baseUrl?: string | undefined
  readonly api?: Exclude<Api, 'completions'> | undefined
  /** The variable that holds its key. */
  readonly keyName?: string | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
}

export type KnownService = Preset & {
  readonly headers: { readonly [name: string]: string }
  /** Whether a person named the address. */
  readonly isAddressGiven: boolean
}

export type KnownServices = ReadonlyMap<string, KnownService>

/** The provider of the demo model, which is no service. */
const builtIn = 'demo'

/** The services we know, and those that a person added, by their names. */
export function knownServices(given: { readonly [name: string]: GivenService } = {}): Result<KnownServices> {
  const known = new Map<string, KnownService>(
    presets.map((preset) => [preset.name, { ...preset, headers: {}, isAddressGiven: false }]),
  )
  for (const [name, service] of Object.entries(given)) {
    if (name === builtIn) return wrong(`providers.${name}`, 'that one is built in, and is called nowhere')
    const row = withGiven(name, known.get(name), service)
    if (!row.ok) return row
    const foreign = foreignKey(row.value)
    if (foreign !== null) return refuse(foreign)
    known.set(name, row.value)
  }
  return ok(known)
}

function withGiven(name: string, preset: KnownService | undefined, given: GivenService): Result<KnownService> {
  const baseUrl = given.baseUrl ?? preset?.baseUrl
  const key = `providers.${name}.baseUrl`
  if (baseUrl === undefined)
    return refuse(fault('bad_config', `${key} is missing: where is ${name} to be called?`, { key }))
  const why = whyNoAddress(baseUrl)
  if (why !== null) return wrong(key, why)
  const api = given.api ?? preset?.api ?? 'chat'
  const address = versioned(baseUrl, api)
  return ok({
    ...(preset ?? { name, title: name, baseUrlNames: [], keyNames: [], needsKey: false }),
    ...(preset === undefined && api === 'chat' && isOnThisMachine(address) && { asked: 'list' }),
    ...(given.title !== undefined && { title: given.title }),
    ...(given.keyName !== undefined && { keyNames: [given.keyName], needsKey: true }),
    api,
    baseUrl: address,
    headers: given.headers ?? {},
    isAddressGiven: given.baseUrl !== undefined,
  })
}

const wrong = (key: string, why: string): Result<never> => refuse(fault('bad_config', `${key}: ${why}.`, { key }))

/** A key is sent to the service it is for, also where someone confuses two names. */
function foreignKey({ name, keyNames, baseUrl }: KnownService): Fault | null {
  const owner = presets.find((preset) => preset.keyNames.some((keyName) => keyNames.includes(keyName)))
  if (owner === undefined || owner.name === name || new URL(owner.baseUrl).origin === new URL(baseUrl).origin)
    return null
  const key = `providers.${name}.keyName`
  const [keyName] = keyNames
  return fault(
    'bad_config',
    `${key}: ${keyName} holds the key of ${owner.title}, which is sent nowhere else. Put the key of ${name} into a variable of its own.`,
    { key },
  )
}
