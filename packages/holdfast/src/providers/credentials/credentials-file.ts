import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ProviderName } from '@holdfast/protocol'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { replaceAlone } from '../../system/files/replace-alone.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'

/** More than any server takes in a header. */
const keyCharsMax = 4096
/** Printable and without a blank: anything else cannot be sent in a header. */
export const isSendableKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && text.length <= keyCharsMax

const KeptCredential = z.strictObject({
  key: z.string().refine(isSendableKey, 'is nothing that can be sent as a key'),
  /** The address the key is for, where it is not the provider's own. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
})
export type KeptCredential = z.infer<typeof KeptCredential>

const CredentialsFile = z.strictObject({
  version: z.literal(1),
  providers: z.record(ProviderName, KeptCredential),
})

/** It holds a few keys: whatever is longer is something else. */
const fileBytesMax = 1024 * 1024

export const credentialsPath = (configDir: string): string => join(configDir, 'credentials.json')

export type ReadCredentials = {
  readonly credentials: ReadonlyMap<string, KeptCredential>
  /** What people should know of it. */
  readonly notices: readonly string[]
}

/** The keys of the file; none where there is no file. One that others could read is closed to them first, with a notice. */
export async function readCredentials(path: string): Promise<Result<ReadCredentials>> {
  try {
    // A link is not followed, and a pipe in its place cannot make us wait.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const closed = await closeToOthers(file, path)
    if (!closed.ok) return closed
    const credentials = parse(await file.readFile('utf8'), path)
    return credentials.ok ? ok({ credentials: credentials.value, notices: closed.value }) : credentials
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok({ credentials: new Map(), notices: [] })
    if (code === 'ELOOP') return refuse(unusable(path, 'is a link, and keys are not kept behind one. Remove it.'))
    return refuse(unusable(path, `cannot be read: ${systemErrorWords(error)}.`))
  }
}

/**
 * Changes the file as one step, one process at a time: whoever reads it sees it before or after, also across a crash. One
 * that cannot be understood is left as it is. For commands, which may make a directory while nothing waits for them.
 */
export async function changeCredentials(
  path: string,
  change: (credentials: Map<string, KeptCredential>) => void,
): Promise<Result<ReadCredentials>> {
  try {
    const opened = await closeDirectory(dirname(path))
    return await replaceAlone(path, async (write) => {
      const known = await readCredentials(path)
      if (!known.ok) return known
      const credentials = new Map(known.value.credentials)
      change(credentials)
      const all = { version: 1, providers: Object.fromEntries(credentials) }
      const written = await write(`${JSON.stringify(all, null, 2)}\n`)
      return written.ok ? ok({ credentials, notices: [...opened, ...known.value.notices] }) : written
    })
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return refuse(unusable(path, `cannot be written: ${systemErrorWords(error)}.`))
  }
}

async function closeToOthers(file: FileHandle, path: string): Promise<Result<readonly string[]>> {
  const { mode, size, uid, ...found } = await file.stat().then((one) => ({ ...one, isFile: one.isFile() }))
  if (!found.isFile) return refuse(unusable(path, 'is no file. Remove it, then run holdfast auth login.'))
  if (size > fileBytesMax) return refuse(unusable(path, 'is far too long to hold keys. Remove it.'))
  if (process.getuid === undefined) return ok([]) // Windows keeps a user's files by the rights of their folder
  if (uid !== process.getuid())
    return refuse(unusable(path, 'belongs to someone else, who could read every key put there. Remove it.'))
  if ((mode & 0o077) === 0) return ok([])
  await file.chmod(mode & 0o600)
  return ok([`${path} was open to other users of this machine; it is closed to them now. They may have read its keys.`])
}

async function closeDirectory(directory: string): Promise<readonly string[]> {
  const isOpen = await stat(directory).then(
    ({ mode }) => (mode & 0o077) !== 0,
    () => false, // not there, or not to be looked at, which making it will say
  )
  ensurePrivateDirectory(directory)
  return isOpen ? [`${directory} was open to other users of this machine; it is closed to them now.`] : []
}

/** What is wrong is said without quoting any of it: the wrong part may be a key. */
function parse(text: string, path: string): Result<ReadonlyMap<string, KeptCredential>> {
  const next = 'It was left as it is. Mend it, or remove it and run holdfast auth login.'
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return refuse(unusable(path, `is damaged: it is not JSON. ${next}`))
  }
  const file = CredentialsFile.safeParse(said)
  if (file.success) return ok(new Map(Object.entries(file.data.providers)))
  // Whoever wrote it by hand may have put a key where a name belongs.
  const where = file.error.issues[0]?.path.filter((part) => /^[a-z][a-z-]{0,23}$/i.test(String(part))).join('.')
  return refuse(
    unusable(path, `is damaged${where ? ` at ${where}` : ''}: it is not as holdfast auth writes it. ${next}`),
  )
}

const unusable = (path: string, what: string): Fault => fault('storage_error', `${path} ${what}`, { path })
