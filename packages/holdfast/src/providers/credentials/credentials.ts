import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type KeySource, ProviderName } from '@holdfast/protocol'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { replaceAlone } from '../../system/files/replace-alone.ts'
import type { Environment } from '../../system/home.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'

export type FoundKey = {
  readonly key: string
  readonly from: KeySource
  /** The only address the key may be sent to, if it was stored with one. No variable overrides it. */
  readonly baseUrl?: string | undefined
}

/** The keys of the environment and, after those, of the credentials file. */
export type Credentials = ReturnType<typeof createCredentials>

/** `file` is the path of the credentials file, which may be missing. */
export function createCredentials({ environment, file }: { environment: Environment; file: string }) {
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
    /** Reads no file: uses the current environment, and the file as of the last `refresh`. */
    find(service: string, keyNames: readonly string[]): FoundKey | undefined {
      for (const name of keyNames) {
        const key = environment[name]?.trim() ?? ''
        if (key === '') continue
        registerKey(key)
        return { key, from: { type: 'variable', name } }
      }
      const stored = credentials.get(service)
      return stored && { ...stored, from: { type: 'file' } }
    },
    /** Reads the file again and returns notices for the user. If that fails, the old keys stay. */
    refresh: () => runInOrder(read),
    /** Lists the services with a key in the file. */
    stored: (): readonly string[] => [...credentials.keys()],
    /** Returns why the file could not be read last time; null if it could. */
    fileProblem: () => fileProblem,
  }
}

/** More than any server accepts in a header. */
const keyCharsMax = 4096
/** Returns whether a text can be sent in a header: printable, without spaces. */
export const isSendableKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && text.length <= keyCharsMax

/** Returns what is wrong with a pasted key, without quoting it; null if it may be a key. */
export function findKeyProblem(text: string): string | null {
  if (text === '') return 'The key is empty.'
  if (/^(["'`]).*\1$/.test(text)) return 'The key is in quotes. Remove them.'
  if (/^(?:export\s+)?[A-Z][A-Z0-9_]*=./.test(text))
    return 'That is a whole assignment. Give only the part after the =.'
  if (/^https?:\/\//i.test(text)) return 'That is an address, not a key.'
  if (/\s/.test(text)) return 'The key contains a space. Copy it again.'
  return isSendableKey(text) ? null : 'That is not a key: it is too long or has invalid characters. Copy it again.'
}

const StoredCredential = z.strictObject({
  key: z.string().refine(isSendableKey, 'cannot be sent as a key'),
  /** The address that the key is for, if it is not the provider's own. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
})
export type StoredCredential = z.infer<typeof StoredCredential>

const CredentialsFile = z.strictObject({
  version: z.literal(1),
  providers: z.record(ProviderName, StoredCredential),
})

/** Far more than a file of keys needs. */
const fileBytesMax = 1024 * 1024

export const credentialsPath = (configDir: string): string => join(configDir, 'credentials.json')

type ReadCredentials = {
  readonly credentials: ReadonlyMap<string, StoredCredential>
  /** For the user. */
  readonly notices: readonly string[]
}

/** Reads the keys; none if there is no file. Makes a file private first if others could read it, with a notice. */
export async function readCredentials(path: string): Promise<Result<ReadCredentials>> {
  try {
    // Does not follow a link, and does not wait for a pipe.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const notices = await makePrivate(file, path)
    if (!notices.ok) return notices
    const credentials = parse(await file.readFile('utf8'), path)
    return credentials.ok ? ok({ credentials: credentials.value, notices: notices.value }) : credentials
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok({ credentials: new Map(), notices: [] })
    if (code === 'ELOOP') return refuse(unusable(path, 'is a symbolic link, which is not safe for keys. Remove it.'))
    return refuse(unusable(path, `cannot be read: ${systemErrorWords(error)}.`))
  }
}

/**
 * Changes the file atomically, one process at a time. Does not touch a file that it cannot parse. For commands only: it
 * creates directories synchronously.
 */
export async function changeCredentials(
  path: string,
  change: (credentials: Map<string, StoredCredential>) => void,
): Promise<Result<ReadCredentials>> {
  try {
    const notices = await makeDirectoryPrivate(dirname(path))
    return await replaceAlone(path, async (write) => {
      const known = await readCredentials(path)
      if (!known.ok) return known
      const credentials = new Map(known.value.credentials)
      change(credentials)
      const all = { version: 1, providers: Object.fromEntries(credentials) }
      const written = await write(`${JSON.stringify(all, null, 2)}\n`)
      return written.ok ? ok({ credentials, notices: [...notices, ...known.value.notices] }) : written
    })
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return refuse(unusable(path, `cannot be written: ${systemErrorWords(error)}.`))
  }
}

async function makePrivate(file: FileHandle, path: string): Promise<Result<readonly string[]>> {
  const { mode, size, uid, ...found } = await file.stat().then((one) => ({ ...one, isFile: one.isFile() }))
  if (!found.isFile) return refuse(unusable(path, 'is not a file. Remove it, then run holdfast auth login.'))
  if (size > fileBytesMax) return refuse(unusable(path, 'is too long to be a file of keys. Remove it.'))
  if (process.getuid === undefined) return ok([]) // on Windows the permissions of the folder apply
  if (uid !== process.getuid())
    return refuse(unusable(path, 'belongs to another user, who could read its keys. Remove it.'))
  if ((mode & 0o077) === 0) return ok([])
  await file.chmod(mode & 0o600)
  const notice = `${path} was readable by other users of this machine. It is private now, but they may have read its keys.`
  return ok([notice])
}

async function makeDirectoryPrivate(directory: string): Promise<readonly string[]> {
  const isOpen = await stat(directory).then(
    ({ mode }) => (mode & 0o077) !== 0,
    () => false, // missing or unreadable; creating it will report that
  )
  ensurePrivateDirectory(directory)
  return isOpen ? [`${directory} was open to other users of this machine. It is private now.`] : []
}

/** Parses the file. The error quotes nothing of it: the wrong part may be a key. */
function parse(text: string, path: string): Result<ReadonlyMap<string, StoredCredential>> {
  const next = 'It was not changed. Repair it, or remove it and run holdfast auth login.'
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return refuse(unusable(path, `is damaged: it is not JSON. ${next}`))
  }
  const file = CredentialsFile.safeParse(json)
  if (file.success) return ok(new Map(Object.entries(file.data.providers)))
  // In a file edited by hand, a key may be in place of a name.
  const where = file.error.issues[0]?.path.filter((part) => /^[a-z][a-z-]{0,23}$/i.test(String(part))).join('.')
  return refuse(unusable(path, `is damaged${where ? ` at ${where}` : ''}: it has an unknown format. ${next}`))
}

const unusable = (path: string, what: string): Fault => fault('storage_error', `${path} ${what}`, { path })
