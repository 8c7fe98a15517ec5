import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { findStats } from '../../../system/files/fast-stat.ts'
import { systemErrorCode, systemErrorWords } from '../../../system/system-error.ts'
import { type McpServer, readServerFile } from './server-config.ts'

/** The files of a workspace that configure servers. The first that names a server counts. */
const workspaceFiles = ['.holdfast/mcp.json', '.mcp.json']
const fileBytesMax = 1024 * 1024

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
      findStats(path).then((found) => (found === null ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`)),
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
    const read = text.ok && text.value !== null ? readServerFile(text.value, path, from) : text
    if (!read.ok) problems.push(read.fault.message)
    if (!read.ok || read.value === null || typeof read.value === 'string') continue
    problems.push(...read.value.problems)
    for (const server of read.value.servers) {
      const other = servers.get(server.name)
      if (other === undefined) servers.set(server.name, { ...server, file: path })
      else problems.push(`The server ${server.name} of ${path} does not count: ${other.file} has one of this name.`)
    }
  }
  return { servers: [...servers.values()], problems }
}

/** Returns the text of a file; null if there is none. */
async function readText(path: string): Promise<Result<string | null>> {
  const bad = (why: string) => refuse(fault('bad_config', `${path} ${why}.`, { path }))
  try {
    const found = await stat(path)
    if (!found.isFile()) return bad('is not a file')
    if (found.size > fileBytesMax) return bad('is too long')
    return ok(await readFile(path, 'utf8'))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    return code === 'ENOENT' || code === 'ENOTDIR' ? ok(null) : bad(`cannot be read: ${systemErrorWords(error)}`)
  }
}
