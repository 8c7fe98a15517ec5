import { readFile, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { errorMessage } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import { describeConnect, type McpServer, readServerFile } from './server-config.ts'

/** The files of a workspace that configure servers. The first that names a server counts. */
const workspaceFiles = ['.holdfast/mcp.json', '.mcp.json']
const fileBytesMax = 1024 * 1024
/** Files that a server runs are part of what is trusted, up to this size. */
const scriptBytesMax = 4 * 1024 * 1024

/** A server with the file that configures it. */
export type ConfiguredServer = McpServer & { readonly file: string }

export type Configuration = {
  readonly servers: readonly ConfiguredServer[]
  /** What cannot be used, in sentences. */
  readonly problems: readonly string[]
}

/** Where servers are configured: the user's own file, and those of a workspace. */
export type ConfigurationPlace = {
  /** Null: only those of the workspace. */
  readonly userFile: string | null
  readonly workspace: string
}

/** Returns a text that changes when one of the files of a place changes. */
export async function stampOf({ userFile, workspace }: ConfigurationPlace): Promise<string> {
  const stamps = await Promise.all(
    [...(userFile === null ? [] : [userFile]), ...workspaceFiles.map((file) => join(workspace, file))].map((path) =>
      stat(path).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
        () => '',
      ),
    ),
  )
  return stamps.join('\n')
}

/** Reads which servers the user and a workspace have configured. The user's own come first, so no workspace replaces one. */
export async function readConfiguration({ userFile, workspace }: ConfigurationPlace): Promise<Configuration> {
  const files = [
    ...(userFile === null ? [] : [{ path: userFile, from: 'user' as const }]),
    ...workspaceFiles.map((file) => ({ path: join(workspace, file), from: 'workspace' as const })),
  ]
  const servers = new Map<string, ConfiguredServer>()
  const problems: string[] = []
  for (const { path, from } of files) {
    const text = await readText(path)
    if (text === null) continue
    const read = typeof text === 'string' ? readServerFile(text, path, from) : null
    if (read === null || !read.ok) {
      problems.push(read === null ? `${path} ${(text as Unreadable).why}.` : read.fault.message)
      continue
    }
    problems.push(...read.value.problems)
    for (const server of read.value.servers) {
      const other = servers.get(server.name)
      if (other === undefined) servers.set(server.name, { ...server, file: path })
      else problems.push(`The server ${server.name} of ${path} does not count: ${other.file} has one of this name.`)
    }
  }
  return { servers: [...servers.values()], problems }
}

type Unreadable = { readonly why: string }

async function readText(path: string): Promise<string | Unreadable | null> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return { why: 'is not a file' }
    if (found.size > fileBytesMax) return { why: 'is too long' }
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : { why: `cannot be read: ${systemErrorWords(error)}` }
  }
}

/**
 * Returns a server of a workspace as what the workspace offers: how it is started, and the content of the workspace's files that
 * its command names.
 */
export async function offerServer(workspace: string, server: ConfiguredServer): Promise<Offer> {
  const { name, connect, file } = server
  const words = connect.type === 'stdio' ? [connect.command, ...connect.args] : []
  const files = new Map<string, Uint8Array>()
  for (const word of words) {
    const path = resolve(workspace, word)
    if (!isInside(workspace, path) || path === workspace) continue
    const content = await readScript(path)
    if (content !== null) files.set(relative(workspace, path), content)
  }
  return createOffer({ kind: 'server', name, path: relative(workspace, file), text: describeConnect(connect), files })
}

async function readScript(path: string): Promise<Uint8Array | null> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return null
    return found.size > scriptBytesMax
      ? Buffer.from(`${found.size} bytes, changed ${found.mtimeMs}`)
      : await readFile(path)
  } catch (error) {
    if (systemErrorCode(error) === null) throw new Error(errorMessage(error), { cause: error })
    return null
  }
}
