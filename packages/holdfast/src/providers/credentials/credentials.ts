import type { KeySource } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import type { Environment } from '../../system/home.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { readCredentials, type StoredCredential } from './credentials-file.ts'

export type FoundKey = {
  readonly key: string
  readonly from: KeySource
  /** The only address the key may be sent to, if it was stored with one. No variable overrides it. */
  readonly baseUrl?: string | undefined
}

/** The keys of the environment and, after those, of the credentials file. */
export interface Credentials {
  /** Reads no file: uses the current environment, and the file as of the last `refresh`. */
  find(service: string, keyNames: readonly string[]): FoundKey | undefined
  /** Reads the file again and returns notices for the user. If that fails, the old keys stay. */
  refresh(): Promise<Result<readonly string[]>>
  /** Lists the services with a key in the file. */
  stored(): readonly string[]
  /** Returns why the file could not be read last time; null if it could. */
  fileProblem(): string | null
}

export type CredentialsDeps = {
  readonly environment: Environment
  /** The path of the credentials file, which may be missing. */
  readonly file: string
}

export function createCredentials({ environment, file }: CredentialsDeps): Credentials {
  let credentials: ReadonlyMap<string, StoredCredential> = new Map()
  let fileProblem: string | null = null
  const runInOrder = createSerialQueue() // an older read must not finish last

  async function read(): Promise<Result<readonly string[]>> {
    const found = await readCredentials(file)
    fileProblem = found.ok ? null : found.fault.message
    if (!found.ok) return found
    for (const { key } of found.value.credentials.values()) registerKey(key)
    credentials = found.value.credentials
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
      const stored = credentials.get(service)
      return stored && { ...stored, from: { type: 'file' } }
    },
    refresh: () => runInOrder(read),
    stored: () => [...credentials.keys()],
    fileProblem: () => fileProblem,
  }
}
