import type { Servers, Tool } from '@holdfast/core/ports'
import { escapeLine, type FolderServers, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { ConfiguredServer } from './config/configured-servers.ts'
import { expandConnect, type McpServer } from './config/server-config.ts'
import { type Prompt, type PromptMessages, untilAborted } from './connection/connection.ts'
import {
  describeServer,
  describeStartable,
  type ListedServer,
  type ServerList,
  toSessionServer,
} from './listed-server.ts'
import { createServerTools, toolsMax } from './server-tools.ts'
import type { StartableServer } from './startable-server.ts'
import { isOfServer, listingNames, nameTools } from './tool-names.ts'
import { createWorkspaceServers, type WorkspaceDeps, type WorkspaceServers } from './workspace-servers.ts'

export type { ListedServer, PromptMessages }

/** How long a server is waited for that was never asked what it offers. It goes on starting meanwhile. */
const firstAnswerMs = 5000
/** A server that failed is asked again what it offers after so long. */
const askAgainMs = 60_000

/** The servers of the Model Context Protocol. Nothing is started before it is needed. */
export type McpServers = ReturnType<typeof createMcpServers>

export function createMcpServers(deps: WorkspaceDeps) {
  const workspaces = createWorkspaceServers(deps)
  const tools = createServerTools()

  async function list(workdir: string): Promise<ServerList> {
    const servers = await workspaces.of(workdir)
    const { built } = tools.of(servers)
    const idle = (state: 'off' | 'untrusted') => (server: ConfiguredServer) =>
      describeServer(server, { state, why: null, tools: null, prompts: [], problems: [] })
    return {
      servers: [
        ...servers.startable.map((one) => describeStartable(one, built)),
        ...servers.untrusted.map(idle('untrusted')),
        ...servers.off.map(idle('off')),
      ],
      problems: servers.problems,
    }
  }

  /** Starts a server, and asks what it offers. Refused: `not_found`, `mcp_failed`. */
  async function test(workdir: string, name: string, signal: AbortSignal): Promise<Result<ListedServer>> {
    const servers = await workspaces.of(workdir)
    const one = findNamed(servers, name)
    if (!one.ok) return one
    const asked = await untilAborted(one.value.ask(), signal)
    return asked.ok ? ok(describeStartable(one.value, tools.of(servers).built)) : asked
  }

  return {
    /**
     * Returns the tools of the servers of a workdir, as far as they are known. A server that was never asked is started only
     * if one of the `needed` names is that of a tool of it, other than the one that lists its tools.
     */
    async tools(workdir: string, needed: readonly string[] = []): Promise<readonly Tool[]> {
      const servers = await workspaces.of(workdir)
      if (needed.length > 0) await askNeeded(servers, needed)
      return tools.of(servers).offered
    },

    /** Returns the prompts of the servers of a workdir, as far as they are known. `needed` as for `tools`. */
    async prompts(workdir: string, needed: readonly string[] = []): Promise<readonly ServerPrompt[]> {
      const servers = await workspaces.of(workdir)
      if (needed.length > 0) await askNeeded(servers, needed)
      const all = servers.startable.flatMap(({ offer, server }) =>
        (offer?.prompts ?? []).slice(0, toolsMax).map((prompt) => ({ server, prompt })),
      )
      const names = nameTools(all.map(({ server, prompt }) => ({ server: server.name, tool: prompt.name })))
      return all.map(({ server: { name: server, from, file }, prompt }, index) => ({
        name: names[index] ?? '',
        server,
        from,
        file,
        prompt,
      }))
    },

    list,
    test,

    /** Returns the servers of a folder for people elsewhere: without variables and headers, which may hold keys. */
    async listForClients(workdir: string): Promise<FolderServers> {
      const { servers, problems } = await list(workdir)
      return { servers: servers.map(toSessionServer), problems: [...problems] }
    },

    /** Returns a server that may be started here, with the values of its variables. Refused: `not_found`, `bad_config`. */
    async find(workdir: string, name: string): Promise<Result<Pick<McpServer, 'name' | 'connect'>>> {
      const servers = await workspaces.of(workdir)
      const one = findNamed(servers, name)
      if (!one.ok) return one
      const connect = expandConnect(one.value.server, { ...deps.environment, WORKSPACE: servers.workspace })
      return connect.ok ? ok({ name, connect: connect.value }) : connect
    },

    /** Asks a server for the messages of a prompt. Refused: `not_found`, `mcp_failed`. */
    async getPrompt(
      workdir: string,
      { server, prompt, args }: PromptCall,
      signal: AbortSignal,
    ): Promise<Result<PromptMessages>> {
      const one = findNamed(await workspaces.of(workdir), server)
      return one.ok ? one.value.connection.getPrompt(prompt, args, signal) : one
    },

    /** The same for the people who look at a session. */
    forSessions: {
      list: async (workdir: string) => (await list(workdir)).servers.map(toSessionServer),
      retry: (workdir: string, name: string) => test(workdir, name, workspaces.closing),
    } satisfies Servers,

    close: () => workspaces.close(),
  }
}

/** Asks the servers that these names belong to what they offer, if they were never asked. */
async function askNeeded({ startable }: WorkspaceServers, needed: readonly string[]): Promise<void> {
  const listing = new Set(listingNames(startable.map(({ server }) => server.name)))
  const names = needed.filter((name) => !listing.has(name))
  const due = startable.filter(
    ({ offer, askedMs, server }) =>
      offer === null && performance.now() - askedMs > askAgainMs && names.some((name) => isOfServer(name, server.name)),
  )
  if (due.length > 0) await Promise.race([Promise.all(due.map((one) => one.ask())), pause(firstAnswerMs)])
}

/** A prompt of a server, with its name for people. */
export type ServerPrompt = Pick<ConfiguredServer, 'from' | 'file'> & {
  readonly name: string
  readonly server: string
  readonly prompt: Prompt
}

type PromptCall = { readonly server: string; readonly prompt: string; readonly args: Readonly<Record<string, string>> }

function findNamed({ startable }: WorkspaceServers, name: string): Result<StartableServer> {
  const one = startable.find(({ server }) => server.name === name)
  if (one) return ok(one)
  const message = `There is no server ${escapeLine(name)} that may be started here. See holdfast mcp list.`
  return refuse(fault('not_found', message, { name }))
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
