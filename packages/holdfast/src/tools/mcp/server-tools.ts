import type { Tool } from '@holdfast/core/ports'
import { readInputSchema } from './input-schema.ts'
import { hashTool } from './known-offers.ts'
import { createListingTool } from './listing-tool.ts'
import { createMcpTool } from './mcp-tool.ts'
import { createResourceTools } from './resource-tools.ts'
import type { StartableServer } from './startable-server.ts'
import { listingNames, nameTools } from './tool-names.ts'
import type { WorkspaceServers } from './workspace-servers.ts'

/** A tool of a server, or why it cannot be used. */
export type BuiltTool = { readonly one: StartableServer } & ({ readonly tool: Tool } | { readonly problem: string })

/** Of a server with more tools, these many are used. */
export const toolsMax = 512

/** The tools of the servers of a workspace. */
export type ServerTools = {
  /** Each tool that a server has said to offer. */
  readonly built: readonly BuiltTool[]
  /** What sessions are offered: the tools that can be used, those for resources, and one for each server never asked. */
  readonly offered: readonly Tool[]
}

type Built = ServerTools & { readonly offers: readonly unknown[] }

/** Builds the tools of workspaces, and again only if a server offers something else: each step asks for them. */
export function createServerTools() {
  const cache = new WeakMap<WorkspaceServers, Built>()
  return {
    of(servers: WorkspaceServers): ServerTools {
      const offers = servers.startable.flatMap(({ offer }) => [offer?.tools, offer?.hasResources])
      const before = cache.get(servers)
      if (before?.offers.every((offer, index) => offer === offers[index])) return before
      const built = { ...buildAll(servers), offers }
      cache.set(servers, built)
      return built
    },
  }
}

function buildAll({ startable }: WorkspaceServers): ServerTools {
  const listedBy = listingNames(startable.map(({ server }) => server.name))
  const all = startable.flatMap((one, index) =>
    (one.offer?.tools ?? []).slice(0, toolsMax).map((tool) => ({ one, tool, listedBy: listedBy[index] ?? '' })),
  )
  const names = nameTools(all.map(({ one, tool }) => ({ server: one.server.name, tool: tool.name })))
  const built = all.map(({ one, tool, listedBy }, index): BuiltTool => {
    const input = readInputSchema(tool.inputSchema)
    if (!input.ok) return { one, problem: `The tool ${tool.name} cannot be used. ${input.fault.message}` }
    const made = createMcpTool({
      name: names[index] ?? '',
      server: one.server.name,
      listedBy,
      tool,
      connection: one.connection,
      input: input.value as Tool['schema']['input'], // a JSON Schema is JSON
      isChanged: () => one.offer?.allowed.get(tool.name) !== hashTool(tool),
      onAllowed: () => one.allow(tool),
    })
    return { one, tool: made }
  })
  const withResources = startable.filter(({ offer }) => offer?.hasResources)
  return {
    built,
    offered: [
      ...built.flatMap((each) => ('tool' in each ? [each.tool] : [])),
      ...createResourceTools(withResources.map(({ server, connection }) => ({ name: server.name, connection }))),
      ...startable.flatMap((one, index) => (one.offer === null ? [createListingTool(listedBy[index] ?? '', one)] : [])),
    ],
  }
}
