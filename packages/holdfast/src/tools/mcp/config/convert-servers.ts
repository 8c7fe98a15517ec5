import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { ServerEntry } from './server-file.ts'

/** The servers of another program's file, in our form, and what could not be taken over. */
export type Converted = {
  readonly servers: Readonly<Record<string, ServerEntry>>
  readonly problems: readonly string[]
}

const Entries = z.record(z.string(), z.looseObject({}))
const Foreign = z.looseObject({
  mcpServers: Entries.optional(), // Claude Code, Cursor, Gemini CLI
  servers: Entries.optional(), // VS Code
  mcp: Entries.optional(), // opencode
})

/**
 * Converts the file of another program: `mcpServers` of Claude Code, Cursor and Gemini CLI, `servers` of VS Code, `mcp` of
 * opencode. Refused: `bad_config`, if it is none of these.
 */
export function convertServers(text: string, path: string): Result<Converted> {
  const bad = (why: string) => refuse(fault('bad_config', `${path} ${why}.`, { path }))
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return bad('is not JSON')
  }
  const file = Foreign.safeParse(json)
  const entries = file.success ? (file.data.mcpServers ?? file.data.servers ?? nested(file.data.mcp)) : undefined
  if (!entries) return bad('has no servers: an object "mcpServers", "servers" or "mcp"')
  const problems: string[] = []
  const servers = Object.entries(entries).flatMap(([name, entry]): readonly [string, ServerEntry][] => {
    const converted = convertEntry(entry, /gemini/i.test(path))
    problems.push(...converted.problems.map((problem) => `The server ${escapeLine(name)}: ${problem}`))
    return converted.entry ? [[name, converted.entry]] : []
  })
  return ok({ servers: Object.fromEntries(servers), problems })
}

/** VS Code also has `mcp.servers` in its settings. */
const nested = (mcp: z.infer<typeof Entries> | undefined): z.infer<typeof Entries> | undefined => {
  const inner = Entries.safeParse(mcp?.['servers'])
  return inner.success ? inner.data : mcp
}

type ConvertedEntry = { readonly entry: ServerEntry | null; readonly problems: readonly string[] }

function convertEntry(given: Readonly<Record<string, unknown>>, isOfGemini: boolean): ConvertedEntry {
  const { httpUrl, environment, enabled, type, command, env, disabled, ...rest } = given
  const isGemini = isOfGemini || httpUrl !== undefined
  const problems: string[] = []
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => known.has(key)))
  const dropped = Object.keys(rest).filter((key) => !known.has(key))
  if (dropped.length > 0) problems.push(`${dropped.map(escapeLine).join(', ')} was not taken over.`)
  // Gemini CLI means SSE by a `url` alone; the others mean streamable HTTP.
  if (type === 'sse' || (isGemini && httpUrl === undefined && rest['url'] !== undefined && type === undefined)) {
    return { entry: null, problems: [...problems, 'it uses SSE, which is not supported. Use its streamable HTTP URL.'] }
  }
  const [program, ...args] = Array.isArray(command) ? command : [command] // opencode has one list
  const isOff = disabled === true || enabled === false
  const variables = env ?? environment
  const entry = convertVariables(
    {
      ...kept,
      ...(program !== undefined && { command: program }),
      ...(args.length > 0 && { args }),
      ...(variables !== undefined && { env: variables }),
      ...(httpUrl !== undefined && { type: 'http', url: httpUrl }),
      ...(httpUrl === undefined && rest['url'] !== undefined && { type: 'http' }),
      ...(isOff && { disabled: true }),
    },
    isGemini,
  )
  if (/\$\{input:/.test(JSON.stringify(entry)))
    problems.push('it asks for input, which became a variable of the environment. Set that.')
  return { entry: JSON.parse(JSON.stringify(entry).replaceAll(/\$\{input:([\w-]+)\}/g, toVariable)), problems }
}

const known = new Set(['args', 'url', 'headers', 'timeout', 'oauth'])

const toVariable = (_: string, name: string): string => `\${${name.replaceAll('-', '_').toUpperCase()}}`

/** Rewrites the variables of other programs. Only Gemini CLI has them without braces. */
function convertVariables(entry: ServerEntry, isGemini: boolean): ServerEntry {
  const plain = (text: string) => text.replaceAll(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`)
  const convert = (text: string): string =>
    (isGemini ? plain(text) : text)
      .replaceAll(/\$\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`)
      .replaceAll(/\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`)
      .replaceAll(/\$\{(?:workspaceFolder|workspaceRoot)\}/g, () => `\${WORKSPACE}`)
      .replaceAll(/\$\{userHome\}/g, () => `\${HOME}`)
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return convert(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]))
  }
  return walk(entry) as ServerEntry // of the same shape
}
