import { createHash } from 'node:crypto'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import type { SignInConfig } from '../sign-in/client-metadata.ts'

/** A server of the Model Context Protocol, as a person or a workspace has configured it. */
export type McpServer = {
  readonly name: string
  /** Who configured it: one of a workspace counts only once a person trusts it. */
  readonly from: 'user' | 'workspace'
  readonly connect: McpConnect
  /** Turned off: it is listed, and never started. */
  readonly isOff: boolean
  /** The longest time a call may take without progress. */
  readonly timeoutMs?: number | undefined
}

/** How a server is reached: a program that is started, or a URL. Variables are not expanded yet. */
export type McpConnect =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly type: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      /** How a person signs in, where that needs settings. */
      readonly oauth?: SignInConfig | undefined
    }

/** What a file of servers says. An entry that cannot be used is named, and the others count. */
type ReadServers = { readonly servers: readonly McpServer[]; readonly problems: readonly string[] }

const Texts = z.record(z.string(), z.string())
const Entry = z.looseObject({
  type: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: Texts.optional(),
  url: z.string().min(1).optional(),
  headers: Texts.optional(),
  oauth: z
    .looseObject({
      clientId: z.string().min(1).optional(),
      clientSecret: z.string().min(1).optional(),
      clientMetadataUrl: z.url({ protocol: /^https$/ }).optional(),
      callbackPort: z.int().min(1).max(65_535).optional(),
      scopes: z.array(z.string()).optional(),
    })
    .optional(),
  timeout: z.number().positive().optional(),
  disabled: z.boolean().optional(),
})
type Entry = z.infer<typeof Entry>

const serversMax = 100
const nameCharsMax = 64
/** Settings of other programs that would let calls run unasked. They do not count here. */
const ignored = ['trust', 'autoApprove', 'alwaysAllow']

/** Reads the `mcpServers` form that other programs use too. Refused: `bad_config`, if the file is not of this form. */
export function readServerFile(text: string, path: string, from: McpServer['from']): Result<ReadServers> {
  const bad = (why: string) => refuse(fault('bad_config', `${path} ${why}.`, { path }))
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    const where = /line \d+ column \d+/.exec(String(error))?.[0]
    return bad(`is not JSON${where === undefined ? '' : `, from ${where} on`}`)
  }
  const file = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) }).safeParse(json)
  if (!file.success) return bad('has no object "mcpServers"')
  const servers: McpServer[] = []
  const problems: string[] = []
  const entries = Object.entries(file.data.mcpServers)
  if (entries.length > serversMax) problems.push(`Only the first ${serversMax} of ${entries.length} servers count.`)
  for (const [name, given] of entries.slice(0, serversMax)) {
    const server = readEntry(name, given, from)
    if (typeof server === 'string') problems.push(`The server ${escapeLine(name)}: ${server}`)
    else servers.push(server)
    const extra = ignored.filter((key) => typeof given === 'object' && given !== null && key in given)
    if (extra.length > 0) problems.push(`The server ${escapeLine(name)}: ${extra.join(', ')} has no effect here.`)
  }
  return ok({ servers, problems })
}

/** Returns a server, or why the entry is none. */
function readEntry(name: string, given: unknown, from: McpServer['from']): McpServer | string {
  if (name === '' || name.length > nameCharsMax || escapeLine(name) !== name)
    return `a name has 1 to ${nameCharsMax} plain characters.`
  const parsed = Entry.safeParse(given)
  if (!parsed.success) return `${parsed.error.issues[0]?.path.join('.') || 'the entry'} is of the wrong kind.`
  const connect = readConnect(parsed.data)
  if (typeof connect === 'string') return connect
  const { disabled = false, timeout } = parsed.data
  return { name, from, connect, isOff: disabled, timeoutMs: timeout }
}

function readConnect({ type, command, args = [], env = {}, url, headers = {}, oauth }: Entry): McpConnect | string {
  const kind = type ?? (command === undefined ? 'http' : 'stdio')
  if (kind === 'stdio') return command === undefined ? 'it has no command.' : { type: 'stdio', command, args, env }
  if (kind !== 'http' && kind !== 'streamable-http' && kind !== 'streamableHttp')
    return `the type ${JSON.stringify(kind)} is not supported. Use stdio or http.`
  if (url === undefined) return 'it has neither a command nor a url.'
  return { type: 'http', url, headers, ...(oauth && { oauth }) }
}

/** Describes how a server is reached, in one line, for the person who is asked to trust it. */
export const describeConnect = (connect: McpConnect): string => JSON.stringify(connect)

/** Identifies what is started: a server with another command, URL or variable is another one. */
export const hashConnect = (server: Pick<McpServer, 'connect'>): string =>
  createHash('sha256').update(describeConnect(server.connect)).digest('hex').slice(0, 32)

/**
 * Puts the values of environment variables in: `${NAME}`, or `${NAME:-value}` with a value if there is none. Refused:
 * `bad_config`, if a variable is missing.
 */
export function expandConnect(
  { name, connect }: Pick<McpServer, 'name' | 'connect'>,
  environment: Readonly<Record<string, string | undefined>>,
): Result<McpConnect> {
  const missing = new Set<string>()
  const expand = (text: string): string =>
    text.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, variable: string, otherwise: string | undefined) => {
      const value = environment[variable] ?? otherwise
      if (value === undefined) missing.add(variable)
      return value ?? ''
    })
  const expandAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, expand(value)]))
  const expandSecret = (oauth: SignInConfig): SignInConfig => ({
    ...oauth,
    ...(oauth.clientSecret !== undefined && { clientSecret: expand(oauth.clientSecret) }),
  })
  const expanded: McpConnect =
    connect.type === 'stdio'
      ? { ...connect, command: expand(connect.command), args: connect.args.map(expand), env: expandAll(connect.env) }
      : {
          ...connect,
          url: expand(connect.url),
          headers: expandAll(connect.headers),
          ...(connect.oauth && { oauth: expandSecret(connect.oauth) }),
        }
  if (missing.size === 0) return ok(expanded)
  const names = [...missing].join(', ')
  const message = `The server ${name} needs ${names}, which the environment does not have. Set it, or write \${NAME:-value}.`
  return refuse(fault('bad_config', message, { server: name, missing: [...missing] }))
}
