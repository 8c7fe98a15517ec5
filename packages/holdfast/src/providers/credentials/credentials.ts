import type { KeySource } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import type { Environment } from '../../system/environment.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { type KeptCredential, readCredentials } from './credentials-file.ts'

export type FoundKey = {
  readonly key: string
  readonly from: KeySource
  /** Where alone it may be sent, if it was stored for an address of its own; no variable moves it elsewhere. */
  readonly baseUrl?: string | undefined
}

/** The keys a person gave us: those of the environment first, then those of the credentials file. */
export interface Credentials {
  /** Never touches a disk: the environment as it is now, and the file as it was at the last `refresh`. */
  find(service: string, keyNames: readonly string[]): FoundKey | undefined
  /**
   * Reads the file anew; until the first time, only the environment is known. Answers with notices for people.
   * Refused, what was known stays.
   */
  refresh(): Promise<Result<readonly string[]>>
  /** The services of which the file holds a key. */
  stored(): readonly string[]
  /** Why the file could not be read the last time, in a sentence; null when it could. */
  trouble(): string | null
}

export type CredentialsDeps = {
  readonly environment: Environment
  /** The path of the credentials file, which need not be there. */
  readonly file: string
}

export function createCredentials({ environment, file }: CredentialsDeps): Credentials {
  let kept: ReadonlyMap<string, KeptCredential> = new Map()
  let trouble: string | null = null
  const inTurn = createSerialQueue() // an older reading must not come last

  async function read(): Promise<Result<readonly string[]>> {
    const found = await readCredentials(file)
    trouble = found.ok ? null : found.fault.message
    if (!found.ok) return found
    for (const { key } of found.value.credentials.values()) registerKey(key)
    kept = found.value.credentials
    return ok(found.value.notices)
  }

  return {
    find(service, keyNames) {
      for (const name of keyNames) {
        const key = environment[name]?.trim() ?? ''
        if (key === '') continue
        registerKey(key)
        return { key, from: { type: 'variable', name } }
      }
      const stored = kept.get(service)
      return stored && { ...stored, from: { type: 'file' } }
    },
    refresh: () => inTurn(read),
    stored: () => [...kept.keys()],
    trouble: () => trouble,
  }
}
