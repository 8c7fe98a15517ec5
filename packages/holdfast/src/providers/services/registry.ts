import { type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Environment } from '../../system/home.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { addApiVersion, findAddressProblem, isLocalAddress } from './address.ts'
import { type Api, type Preset, presets } from './presets.ts'

/** A service in the config: a new one, or changes to a known one. */
export type ServiceConfig = {
  readonly title?: string | undefined
  readonly baseUrl?: string | undefined
  readonly api?: Exclude<Api, 'completions'> | undefined
  /** The variable that holds its key. */
  readonly keyName?: string | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
}

export type Service = Preset & {
  readonly headers: { readonly [name: string]: string }
  /** Whether the config set the address. */
  readonly isAddressGiven: boolean
}

export type Services = ReadonlyMap<string, Service>

/** Returns the known and the configured services, by name. */
export function resolveServices(config: { readonly [name: string]: ServiceConfig } = {}): Result<Services> {
  const services = new Map<string, Service>(
    presets.map((preset) => [preset.name, { ...preset, headers: {}, isAddressGiven: false }]),
  )
  for (const [name, given] of Object.entries(config)) {
    if (name === 'demo') return refuseKey(`providers.${name}`, 'the demo is built in and cannot be configured')
    const service = applyConfig(name, services.get(name), given)
    if (!service.ok) return service
    const misused = findMisusedKey(service.value)
    if (misused !== null) return refuse(misused)
    services.set(name, service.value)
  }
  return ok(services)
}

function applyConfig(name: string, known: Service | undefined, given: ServiceConfig): Result<Service> {
  const baseUrl = given.baseUrl ?? known?.baseUrl
  const key = `providers.${name}.baseUrl`
  if (baseUrl === undefined)
    return refuse(fault('bad_config', `${key} is missing. Set it to the address of ${name}.`, { key }))
  const problem = findAddressProblem(baseUrl)
  if (problem !== null) return refuseKey(key, problem)
  const api = given.api ?? known?.api ?? 'chat'
  const address = addApiVersion(baseUrl, api)
  return ok({
    ...(known ?? { name, title: name, baseUrlNames: [], keyNames: [], needsKey: false }),
    ...(known === undefined && api === 'chat' && isLocalAddress(address) && { discovery: 'list' }),
    ...(given.title !== undefined && { title: given.title }),
    ...(given.keyName !== undefined && { keyNames: [given.keyName], needsKey: true }),
    api,
    baseUrl: address,
    headers: given.headers ?? {},
    isAddressGiven: given.baseUrl !== undefined,
  })
}

const refuseKey = (key: string, why: string): Result<never> => refuse(fault('bad_config', `${key}: ${why}.`, { key }))

/** Returns a fault if the key of one service would be sent to another. */
function findMisusedKey({ name, keyNames, baseUrl }: Service): Fault | null {
  const owner = presets.find((preset) => preset.keyNames.some((keyName) => keyNames.includes(keyName)))
  if (owner === undefined || owner.name === name || new URL(owner.baseUrl).origin === new URL(baseUrl).origin)
    return null
  const key = `providers.${name}.keyName`
  const why = `${keyNames[0]} holds the key of ${owner.title}, which is sent only to ${owner.title}`
  return fault('bad_config', `${key}: ${why}. Use another variable for the key of ${name}.`, { key })
}

/** A variable with such a name holds a key, of whatever provider. */
const keyVariable = /_API_KEY$/
const keyHeader = /auth|cookie|key|secret|token/i
/** Headers with long values that are not secret. */
const publicHeader = /^(accept.*|content-type|user-agent|origin|(http-)?referer)$|-(beta|title|version)$/i
const keyCharsMin = 16

/** Registers the keys of environment and config, so that they are masked in all output from here on. */
export function registerServiceKeys(environment: Environment, services: Services): void {
  const all = [...services.values()]
  const names = new Set(all.flatMap(({ keyNames }) => keyNames))
  for (const [name, value = ''] of Object.entries(environment))
    if (names.has(name) || keyVariable.test(name)) registerKey(value.trim())
  for (const [header, value] of all.flatMap(({ headers }) => Object.entries(headers)))
    for (const key of findKeysIn(header, value.trim())) registerKey(key)
}

/** Also returns the single words: a service may quote the key without `Bearer`. */
function findKeysIn(header: string, value: string): readonly string[] {
  if (publicHeader.test(header)) return []
  const words = value.split(/\s+/)
  const longWords = words.filter((word) => word.length >= keyCharsMin)
  return keyHeader.test(header) ? [value, ...words.slice(-1), ...longWords] : longWords
}
