import { createHash } from 'node:crypto'

const nameCharsMax = 64
const hashChars = 8

/** A tool of a server, as the server names it. */
export type NamedTool = { readonly server: string; readonly tool: string }

/**
 * Names the tools of servers for the model: `mcp__server__tool`, of letters, digits, `_` and `-`, at most 64 characters. Where
 * that is too long, or two tools would have the same name, the name ends in a hash of what the server calls it.
 */
export function nameTools(tools: readonly NamedTool[]): readonly string[] {
  const plain = tools.map(({ server, tool }) => `mcp__${cleaned(server)}__${cleaned(tool)}`)
  const counts = new Map<string, number>()
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  return plain.map((name, index) => {
    const isTaken = (counts.get(name) ?? 0) > 1
    return name.length <= nameCharsMax && !isTaken ? name : withHash(name, tools[index] as NamedTool) // as many as names
  })
}

/** Names the tools that list the tools of these servers: `mcp__server__list_tools`. */
export const listingNames = (servers: readonly string[]): readonly string[] =>
  nameTools(servers.map((server) => ({ server, tool: 'list_tools' })))

/** Whether a name means a server or a tool or prompt of it. Names that end in a hash are not recognised. */
export const isOfServer = (name: string, server: string): boolean => `${name}__`.startsWith(`mcp__${cleaned(server)}__`)

const cleaned = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_')

function withHash(name: string, { server, tool }: NamedTool): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
  return `${name.slice(0, nameCharsMax - hashChars - 1)}_${hash.slice(0, hashChars)}`
}
