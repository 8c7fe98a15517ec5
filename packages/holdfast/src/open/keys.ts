import { didYouMean, fault, type KeySource, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { findConnectionProblem, keyOf, keySourceOf, resolveConnection } from '../providers/connect/connection.ts'
import { checkKey, type KeyVerdict } from '../providers/credentials/check-key.ts'
import {
  type Credentials,
  changeCredentials,
  createCredentials,
  credentialsPath,
  findKeyProblem,
  type StoredCredential,
} from '../providers/credentials/credentials.ts'
import { isLocalAddress, redactAddress } from '../providers/services/address.ts'
import { registerServiceKeys, resolveServices, type Service } from '../providers/services/registry.ts'
import { configPath, readConfig } from '../system/config/read-config.ts'
import type { Environment, Home } from '../system/home.ts'
import { registerKey } from '../system/secrets/known-keys.ts'

export type { KeyVerdict } from '../providers/credentials/check-key.ts'
export type { StoredCredential } from '../providers/credentials/credentials.ts'

/** A provider that can have a key. */
type KeyedProvider = Pick<Service, 'name' | 'title' | 'needsKey'>

/** The key of a provider, without enough of it to be used. */
export type KeyStatus = {
  readonly provider: string
  readonly title: string
  /** Null if there is no key. */
  readonly from: KeySource | null
  /** The last characters of the key; null if there is no key, or it is too short to show any. */
  readonly ends: string | null
  readonly needsKey: boolean
  readonly endpoint: string | null
  /** Whether a variable overrides a key in the file. */
  readonly isShadowed: boolean
  /** Why the key cannot be used, or how to get one. */
  readonly lacks: string | null
}

/** The keys of this home, for `holdfast auth`. */
export type Keys = Awaited<ReturnType<typeof openKeys>>

/** Reads the keys. Throws if a file is malformed, before the user is asked anything. */
export async function openKeys(environment: Environment, { configDir }: Home) {
  const config = orThrow(await readConfig(configPath(configDir)))
  const known = orThrow(resolveServices(config.providers))
  registerServiceKeys(environment, known)
  const path = credentialsPath(configDir)
  const credentials = createCredentials({ environment, file: path })
  const notices = orThrow(await credentials.refresh())
  // Two APIs of one provider share its key.
  const providers = [...known.values()].filter(({ sameAs }) => sameAs === undefined)
  const removed = credentials.stored().filter((name) => !known.has(name))

  const serviceOf = (name: string): Service | undefined => {
    const one = known.get(name)
    return one?.sameAs === undefined ? one : known.get(one.sameAs)
  }

  return {
    path,
    providers,
    /** Warnings about the file. */
    notices,
    find(name: string): Result<KeyedProvider> {
      const provider = serviceOf(name)
      if (provider) return ok(provider)
      return removed.includes(name) ? ok(removedProvider(name)) : refuse(unknownProvider(name, providers))
    },
    status: (): readonly KeyStatus[] => [
      ...providers.map((provider) => statusOf(provider, environment, credentials)),
      ...removed.map((name) => removedStatus(name, credentials)),
    ],
    /** Checks this key, or the stored one, with the provider. */
    check: async (name: string, given: StoredCredential | null, signal: AbortSignal): Promise<KeyVerdict> => {
      const provider = serviceOf(name)
      if (!provider) return { type: 'unknown', message: unknownProvider(name, providers).message }
      if (given) registerKey(given.key)
      const from = given ? { ...credentials, ...withOnly(given) } : credentials
      const connection = resolveConnection(provider, environment, from)
      const { key, baseUrl, addressProblem } = connection
      if (addressProblem !== null) return { type: 'unknown', message: addressProblem }
      if (key.type === 'missing') return { type: 'rejected', message: key.message }
      const { title, api, keyPath } = provider
      const verdict = await checkKey({ title, api, keyPath, baseUrl, key: keyOf(connection) }, { signal })
      return isUnencrypted(baseUrl)
        ? withNote(verdict, 'The address is http, not https: others on the network can read the key.')
        : verdict
    },
    /** Saves the key; returns warnings about the file. */
    async save(name: string, credential: StoredCredential): Promise<Result<readonly string[]>> {
      registerKey(credential.key)
      const changed = await changeCredentials(path, (all) => all.set(serviceOf(name)?.name ?? name, credential))
      return changed.ok ? ok(changed.value.notices) : changed
    },
    /** Returns whether there was a key to remove. */
    async remove(name: string): Promise<Result<boolean>> {
      const stored = serviceOf(name)?.name ?? name
      let isRemoved = false
      if (credentials.find(stored, []) === undefined) return ok(isRemoved)
      const changed = await changeCredentials(path, (all) => {
        isRemoved = all.delete(stored)
      })
      return changed.ok ? ok(isRemoved) : changed
    },
    /** Returns why a text cannot be a key; null if it can. */
    whyNoKey: findKeyProblem,
  }
}

function statusOf(provider: Service, environment: Environment, credentials: Credentials): KeyStatus {
  const { name, title, needsKey } = provider
  const connection = resolveConnection(provider, environment, credentials)
  const from = keySourceOf(connection)
  return {
    provider: name,
    title,
    from,
    ends: endOf(keyOf(connection)),
    needsKey,
    endpoint: redactAddress(connection.baseUrl) ?? null,
    isShadowed: from?.type === 'variable' && credentials.find(name, []) !== undefined,
    lacks: findConnectionProblem(connection),
  }
}

/** The end of a shorter key would reveal too much. */
const keyCharsShownFrom = 16
const endOf = (key: string | null): string | null => (key && key.length >= keyCharsShownFrom ? key.slice(-4) : null)

/** A provider with a stored key that is no longer in the config. */
const removedProvider = (name: string): KeyedProvider => ({ name, title: name, needsKey: true })

const removedStatus = (name: string, credentials: Credentials): KeyStatus => ({
  provider: name,
  title: name,
  needsKey: true,
  endpoint: null,
  isShadowed: false,
  from: { type: 'file' } as const,
  ends: endOf(credentials.find(name, [])?.key ?? null),
  lacks: `The provider ${name} is no longer configured. Remove its key with holdfast auth logout ${name}.`,
})

const isUnencrypted = (address: string): boolean => !address.startsWith('https:') && !isLocalAddress(address)

const withNote = (verdict: KeyVerdict, note: string): KeyVerdict =>
  verdict.type === 'accepted' ? { ...verdict, note: [verdict.note ?? [], note].flat().join(' ') } : verdict

const withOnly = (given: StoredCredential): Pick<Credentials, 'find'> => ({
  find: () => ({ ...given, from: { type: 'file' } }),
})

/** Repeats the name only if it cannot be a key. */
function unknownProvider(name: string, providers: readonly KeyedProvider[]) {
  const names = providers.map((provider) => provider.name)
  const shown = /^[a-z][a-z-]{0,19}$/i.test(name) ? `no provider ${name}` : 'no provider of this name'
  const own = 'To use another one, add it to providers in the config file.'
  return fault('bad_request', `There is ${shown}.${didYouMean(name, names)} Known: ${names.join(', ')}. ${own}`)
}
