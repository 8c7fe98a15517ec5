import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol/result'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import { type FileLock, isLocked, lockFile } from '../../system/files/file-lock.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import type { Home } from '../../system/home.ts'
import { systemErrorCode } from '../../system/system-error.ts'

const cookieKeyBytes = 32

/** The content of `server.json`: where the running server of this home is, and where its token is. */
export type ServerFile = {
  readonly url: string
  readonly pid: number
  readonly tokenFile: string
  /** The store it serves; undefined for the one of the home. */
  readonly store?: string | undefined
}

/** Reads `server.json`; returns null if it is missing or malformed. The server it names may be gone. */
export function readServerFile({ serverFile }: Home): ServerFile | null {
  try {
    const parsed: { readonly [Field in keyof ServerFile]?: unknown } = JSON.parse(readFileSync(serverFile, 'utf8'))
    const { url, pid, tokenFile, store } = parsed
    if (typeof url !== 'string' || !URL.canParse(url) || typeof pid !== 'number' || typeof tokenFile !== 'string')
      return null
    return { url, pid, tokenFile, ...(typeof store === 'string' && { store }) }
  } catch {
    return null
  }
}

/** Returns whether a process with its id exists; that may be another process by now. */
export function isRunning({ pid }: Pick<ServerFile, 'pid'>): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

/**
 * Returns whether the server that `server.json` names still runs: its process exists, and a process holds the lock of the
 * home. After a crash any program of the machine may listen at its address, and must not get the token.
 */
export function isServing({ stateDir }: Home, server: Pick<ServerFile, 'pid'>): boolean {
  if (server.pid === process.pid) return true // to look at our own lock would release it
  return isRunning(server) && isLocked(lockPath(stateDir))
}

const lockPath = (stateDir: string): string => join(stateDir, 'server.lock')

export function readToken({ tokenFile }: ServerFile): string | undefined {
  try {
    return readFileSync(tokenFile, 'utf8').trim()
  } catch {
    return undefined // the server then answers that a token is missing
  }
}

/** Locks the home for one server; returns null if another process serves it, or is about to. */
export function lockHome({ stateDir }: Home): FileLock | null {
  ensurePrivateDirectory(stateDir)
  return lockFile(lockPath(stateDir))
}

/** Writes `server.json` and the token, readable by this user alone. */
export async function writeServerFile(home: Home, server: Omit<ServerFile, 'tokenFile'>, token: string) {
  ensurePrivateDirectory(home.stateDir)
  const file = { ...server, tokenFile: join(home.stateDir, 'server.token') }
  await writePrivateFile(file.tokenFile, `${token}\n`, server.pid)
  await writePrivateFile(home.serverFile, `${JSON.stringify(file)}\n`, server.pid)
  return file
}

/** Reads the key that signs the page's login cookies, or creates it. A restart then logs nobody out. */
export async function loadCookieKey(home: Home, pid: number): Promise<Uint8Array> {
  const path = join(home.stateDir, 'cookie.key')
  const known = existsSync(path) ? Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url') : null
  if (known?.length === cookieKeyBytes) return known
  ensurePrivateDirectory(home.stateDir)
  const key = randomBytes(cookieKeyBytes)
  await writePrivateFile(path, `${key.toString('base64url')}\n`, pid)
  return key
}

/** Removes `server.json` and the token, unless another server has replaced them. */
export function removeServerFile(home: Home, { pid, tokenFile }: ServerFile): void {
  if (readServerFile(home)?.pid !== pid) return
  rmSync(home.serverFile, { force: true })
  rmSync(tokenFile, { force: true })
}

/** Replaces a file that this user alone can read. */
export async function writePrivateFile(path: string, text: string, pid: number): Promise<void> {
  const file = orThrow(openAtomicFile(path, { replaces: true, pid }))
  await file.write(text)
  orThrow(file.commit())
}

/**
 * Returns a `fetch` for the running server of a home, wherever that is now: a server that was restarted may have another
 * address and another token. Nothing is sent if none runs, because any program may listen at the address of a dead one.
 */
export const fetchFromServer =
  (home: Home): typeof fetch =>
  async (input, init) => {
    const server = readServerFile(home)
    if (!server || !isServing(home, server)) throw new Error('no server of this home directory is running')
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(init?.headers)
    const token = readToken(server)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return fetch(`${new URL(server.url).origin}${pathname}${search}`, { ...init, headers })
  }
