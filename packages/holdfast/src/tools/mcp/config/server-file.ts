import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { didYouMean, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { replaceAlone } from '../../../system/files/replace-alone.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { type McpServer, readServerFile } from './server-config.ts'

/** An entry of `mcpServers`, as it is written. */
export type ServerEntry = Readonly<Record<string, unknown>>

type AddedServer = McpServer & { readonly isReplaced: boolean }

type File = { readonly [key: string]: unknown; readonly mcpServers: Readonly<Record<string, ServerEntry>> }

/** Adds a server to the user's file, or replaces the one of this name, and says which. Refused: `bad_config`. */
export function addServer(path: string, name: string, entry: ServerEntry): Promise<Result<AddedServer>> {
  return changeFile(path, (file) => {
    const text = JSON.stringify({ mcpServers: { [name]: entry } })
    const read = readServerFile(text, path, 'user')
    if (!read.ok) return read
    const [server] = read.value.servers
    if (!server) return refuse(fault('bad_request', read.value.problems[0] ?? 'This is no server.', { name }))
    const isReplaced = Object.hasOwn(file.mcpServers, name)
    return ok({
      file: { ...file, mcpServers: { ...file.mcpServers, [name]: entry } },
      value: { ...server, isReplaced },
    })
  })
}

/** Removes a server from the user's file. Refused: `not_found`, `bad_config`. */
export function removeServer(path: string, name: string): Promise<Result<null>> {
  return changeFile(path, (file) => {
    const { [name]: removed, ...others } = file.mcpServers
    if (removed === undefined) {
      const hint = didYouMean(name, Object.keys(others))
      return refuse(fault('not_found', `${path} has no server ${escapeLine(name)}.${hint}`, { name }))
    }
    return ok({ file: { ...file, mcpServers: others }, value: null })
  })
}

type Changed<Value> = Result<{ readonly file: File; readonly value: Value }>

async function changeFile<Value>(path: string, change: (file: File) => Changed<Value>): Promise<Result<Value>> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  return replaceAlone(path, async (write) => {
    const text = await readIfPresent(path)
    const known = text === null ? ok(null) : readServerFile(text, path, 'user')
    if (!known.ok) return known // what is there is not overwritten
    const changed = change(text === null ? { mcpServers: {} } : (JSON.parse(text) as File)) // it was just read
    if (!changed.ok) return changed
    const written = await write(`${JSON.stringify(changed.value.file, null, 2)}\n`)
    return written.ok ? ok(changed.value.value) : written
  })
}

async function readIfPresent(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\ufeff/, '')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}
