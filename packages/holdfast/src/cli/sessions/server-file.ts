import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol/result'
import { openAtomicFile } from '../../system/files/atomic-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import type { Home } from '../../system/home.ts'
import { systemErrorCode } from '../../system/system-error.ts'

const cookieKeyBytes = 32

/** Where the running server of this home is, and where its token lies: `server.json`. */
export type ServerFile = {
  readonly url: string
  readonly pid: number
  readonly tokenFile: string
  /** The store it serves; that of the home when it does not say. */
  readonly store?: string | undefined
}

/** What `server.json` says, or null where there is none that can be understood. It may speak of a server that is gone. */
export function readServerFile({ serverFile }: Home): ServerFile | null {
  try {
    const said: unknown = JSON.parse(readFileSync(serverFile, 'utf8'))
    if (typeof said !== 'object' || said === null || !('url' in said && 'pid' in said && 'tokenFile' in said))
      return null
    const { url, pid, tokenFile } = said
    if (typeof url !== 'string' || !URL.canParse(url) || typeof pid !== 'number' || typeof tokenFile !== 'string')
      return null
    const store = 'store' in said && typeof said.store === 'string' ? said.store : undefined
    return { url, pid, tokenFile, ...(store !== undefined && { store }) }
  } catch {
    return null
  }
}

/** Whether the process it speaks of is there; one that took its number may be another. */
export function isRunning({ pid }: Pick<ServerFile, 'pid'>): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}

export function readToken({ tokenFile }: ServerFile): string | undefined {
  try {
    return readFileSync(tokenFile, 'utf8').trim()
  } catch {
    return undefined // the server will say what is missing
  }
}

/** Tells other commands of this home where the server is. Readable by this user alone. */
export async function writeServerFile(
  home: Home,
  server: Omit<ServerFile, 'tokenFile'>,
  token: string,
): Promise<ServerFile> {
  ensurePrivateDirectory(home.stateDir)
  const file = { ...server, tokenFile: join(home.stateDir, 'server.token') }
  await put(file.tokenFile, `${token}\n`, server.pid)
  await put(home.serverFile, `${JSON.stringify(file)}\n`, server.pid)
  return file
}

/** What seals the page's login, kept so that a restart logs nobody out. One that cannot be understood is made anew. */
export async function keepCookieKey(home: Home, pid: number): Promise<Uint8Array> {
  const path = join(home.stateDir, 'cookie.key')
  const known = existsSync(path) ? Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url') : null
  if (known?.length === cookieKeyBytes) return known
  ensurePrivateDirectory(home.stateDir)
  const key = randomBytes(cookieKeyBytes)
  await put(path, `${key.toString('base64url')}\n`, pid)
  return key
}

/** At the end; what another server has put in their place stays. */
export function removeServerFile(home: Home, { pid, tokenFile }: ServerFile): void {
  if (readServerFile(home)?.pid !== pid) return
  rmSync(home.serverFile, { force: true })
  rmSync(tokenFile, { force: true })
}

async function put(path: string, text: string, pid: number): Promise<void> {
  const file = orThrow(openAtomicFile(path, { replaces: true, pid }))
  await file.write(text)
  orThrow(file.keep())
}
