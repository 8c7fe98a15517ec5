import { createHash } from 'node:crypto'
import type { Tool } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Offer } from '../../trust/offer.ts'
import { type Configuration, type ConfiguredServer, readConfiguration, stampOf } from './configured-servers.ts'
import {
  type ConnectionState,
  createConnection,
  type McpConnection,
  type PromptMessages,
  type ServerTool,
  untilAborted,
} from './connection.ts'
import { readInputSchema } from './input-schema.ts'
import { hashTool, type KnownOffer, type KnownOffers } from './known-offers.ts'
import { createMcpTool } from './mcp-tool.ts'
import type { ClientDeps } from './open-client.ts'
import { hashConnect, type McpServer } from './server-config.ts'
import { offerServer } from './server-offer.ts'
import { nameTools } from './tool-names.ts'

/** A server, as people see it. */
export type ListedServer = Pick<McpServer, 'name' | 'from' | 'connect'> & {
  /** `untrusted`: a person must trust it first. */
  readonly state: ConnectionState['type'] | 'off' | 'untrusted'
  /** Why it failed. */
  readonly why: string | null
  /** The names of its tools for the model. Null: it was never asked what it offers. */
  readonly tools: readonly string[] | null
  /** The names of its prompts. */
  readonly prompts: readonly string[]
  /** The tools that cannot be used, with the reason. */
  readonly problems: readonly string[]
}

export type ServerList = { readonly servers: readonly ListedServer[]; readonly problems: readonly string[] }

type ServersDeps = Omit<ClientDeps, 'cwd' | 'onChanged'> & {
  /** The file of the user's own servers. */
  readonly userFile: string
  /** The user's home directory, where the user's own servers are started. */
  readonly userDir: string
  readonly findWorkspace: (workdir: string) => Promise<string>
  /** Whether a person trusts this offer of a workspace. */
  readonly isTrusted: (workspace: string, offer: Offer) => Promise<boolean>
  readonly known: KnownOffers
  readonly idleMs?: number | undefined
}

/** How long a step waits for servers that were never asked what they offer. They go on starting meanwhile. */
const firstAnswerMs = 5000
/** A server that failed is asked again what it offers after so long. */
const askAgainMs = 60_000
const toolsMax = 512

/** A running or startable server of one workspace. All sessions there share it. */
type Running = {
  /** Its workspace, its name and its configuration. */
  readonly id: string
  readonly key: string
  readonly server: ConfiguredServer
  readonly connection: McpConnection
  offer: KnownOffer | null
  asking: Promise<Result<KnownOffer>> | null
  askedMs: number
}

type Read = { readonly stamp: string; readonly configuration: Configuration }

type Loaded = {
  readonly problems: readonly string[]
  readonly off: readonly ConfiguredServer[]
  readonly untrusted: readonly ConfiguredServer[]
  readonly running: readonly Running[]
}

/** The servers of the Model Context Protocol. Nothing is started before it is needed. */
export type McpServers = ReturnType<typeof createMcpServers>

export function createMcpServers(deps: ServersDeps) {
  const workspaces = new Map<string, Promise<string>>()
  const configurations = new Map<string, Read>()
  const loaded = new Map<string, Loaded>()
  const running = new Map<string, Promise<Running>>()
  const closing = new AbortController()

  const workspaceOf = (workdir: string): Promise<string> => {
    const known = workspaces.get(workdir) ?? deps.findWorkspace(workdir)
    workspaces.set(workdir, known)
    return known
  }

  /** Reads the configuration, if it has changed. */
  async function configurationOf(workspace: string): Promise<Configuration> {
    const place = { userFile: deps.userFile, workspace }
    const stamp = await stampOf(place)
    const before = configurations.get(workspace)
    if (before?.stamp === stamp) return before.configuration
    const configuration = await readConfiguration(place)
    configurations.set(workspace, { stamp, configuration })
    return configuration
  }

  /** Finds out which servers may run now. Trust is judged each time: a script may have changed, or a person taken it back. */
  async function load(workspace: string): Promise<Loaded> {
    const { servers, problems } = await configurationOf(workspace)
    const on = servers.filter(({ isOff }) => !isOff)
    const trusted = await Promise.all(on.map((server) => isTrusted(workspace, server)))
    const usable = on.filter((_, index) => trusted[index])
    const next: Loaded = {
      ...{ problems, off: servers.filter(({ isOff }) => isOff), untrusted: on.filter((_, at) => !trusted[at]) },
      running: await Promise.all(usable.map((server) => find(workspace, server))),
    }
    const before = loaded.get(workspace)
    loaded.set(workspace, next)
    await endUnused(before, next)
    return next
  }

  const isTrusted = async (workspace: string, server: ConfiguredServer): Promise<boolean> =>
    server.from === 'user' || deps.isTrusted(workspace, await offerServer(workspace, server))

  /** Returns the server of this workspace with this configuration. Another configuration is another server. */
  function find(workspace: string, server: ConfiguredServer): Promise<Running> {
    const id = JSON.stringify([workspace, server.name, hashConnect(server)])
    const found = running.get(id) ?? create(id, workspace, server)
    running.set(id, found) // at once: all sessions share it
    return found
  }

  async function create(id: string, workspace: string, server: ConfiguredServer): Promise<Running> {
    const key = createHash('sha256').update(id).digest('hex').slice(0, 32)
    // One of the user is not started in the workspace: `npx` would run what a repository has put there.
    const cwd = server.from === 'user' ? deps.userDir : workspace
    const environment = { ...deps.environment, WORKSPACE: workspace }
    const one: Running = {
      ...{ id, key, server, offer: await deps.known.read(key), asking: null, askedMs: Number.NEGATIVE_INFINITY },
      connection: createConnection(server, { ...deps, cwd, environment, onChanged: () => void ask(one) }),
    }
    return one
  }

  /** Stops servers whose configuration is gone. */
  async function endUnused(before: Loaded | undefined, next: Loaded): Promise<void> {
    for (const one of before?.running ?? []) {
      if (next.running.includes(one)) continue
      running.delete(one.id)
      await one.connection.close()
    }
  }

  /** Asks a server what it offers, and remembers that. A failed one keeps what is known of it. */
  function ask(one: Running): Promise<Result<KnownOffer>> {
    one.asking ??= askNow(one).finally(() => {
      one.asking = null
      one.askedMs = performance.now()
    })
    return one.asking
  }

  async function askNow(one: Running): Promise<Result<KnownOffer>> {
    const listed = await one.connection.list(closing.signal)
    if (!listed.ok) return listed
    one.offer = await deps.known.save(one.key, listed.value)
    return ok(one.offer)
  }

  /** Builds the tools of the servers of a workspace. */
  function toolsOf({ running: servers }: Loaded): readonly Built[] {
    const all = servers.flatMap((one) => (one.offer?.tools ?? []).slice(0, toolsMax).map((tool) => ({ one, tool })))
    const names = nameTools(all.map(({ one, tool }) => ({ server: one.server.name, tool: tool.name })))
    return all.map(({ one, tool }, index): Built => {
      const input = readInputSchema(tool.inputSchema)
      if (!input.ok) return { one, problem: `The tool ${tool.name} cannot be used. ${input.fault.message}` }
      const made = createMcpTool({
        ...{ name: names[index] ?? '', server: one.server.name, tool, connection: one.connection },
        input: input.value as Tool['schema']['input'], // a JSON Schema is JSON
        isChanged: () => one.offer?.allowed.get(tool.name) !== hashTool(tool),
        onAllowed: () => allow(one, tool),
      })
      return { one, tool: made }
    })
  }

  async function allow(one: Running, tool: ServerTool): Promise<void> {
    await deps.known.allow(one.key, tool)
    one.offer = await deps.known.read(one.key)
  }

  const placeOf = async (workdir: string): Promise<Loaded> => load(await workspaceOf(workdir))

  return {
    /** Makes the tools of a workdir known. Starts only servers that were never asked what they offer. */
    async describe(workdir: string): Promise<void> {
      const { running: servers } = await load(await workspaceOf(workdir))
      const due = servers.filter(({ offer, askedMs }) => offer === null && performance.now() - askedMs > askAgainMs)
      if (due.length > 0) await Promise.race([Promise.all(due.map(ask)), pause(firstAnswerMs)])
    },

    /** Returns the tools of the servers of a workdir, as far as they are known. */
    async tools(workdir: string): Promise<readonly Tool[]> {
      return toolsOf(await placeOf(workdir)).flatMap((built) => ('tool' in built ? [built.tool] : []))
    },

    async list(workdir: string): Promise<ServerList> {
      const place = await placeOf(workdir)
      const built = toolsOf(place)
      const idle = (state: 'off' | 'untrusted') => (server: ConfiguredServer) =>
        listed(server, { state, why: null, tools: null, prompts: [], problems: [] })
      return {
        servers: [
          ...place.running.map((one) => describeRunning(one, built)),
          ...place.untrusted.map(idle('untrusted')),
          ...place.off.map(idle('off')),
        ],
        problems: place.problems,
      }
    },

    /** Starts a server, and asks what it offers. Refused: `not_found`, `mcp_failed`. */
    async test(workdir: string, name: string, signal: AbortSignal): Promise<Result<ListedServer>> {
      const place = await placeOf(workdir)
      const one = place.running.find(({ server }) => server.name === name)
      if (one === undefined) return refuse(unknownServer(name))
      const asked = await untilAborted(ask(one), signal)
      return asked.ok ? ok(describeRunning(one, toolsOf(place))) : asked
    },

    /** Asks a server for the messages of a prompt. Refused: `not_found`, `mcp_failed`. */
    async getPrompt(
      workdir: string,
      { server, prompt, args }: PromptCall,
      signal: AbortSignal,
    ): Promise<Result<PromptMessages>> {
      const one = (await placeOf(workdir)).running.find((each) => each.server.name === server)
      return one ? one.connection.getPrompt(prompt, args, signal) : refuse(unknownServer(server))
    },

    async close(): Promise<void> {
      closing.abort()
      await Promise.all([...running.values()].map(async (one) => (await one).connection.close()))
    },
  }
}

/** A tool of a server, or why it cannot be used. */
type Built = { readonly one: Running } & ({ readonly tool: Tool } | { readonly problem: string })

type PromptCall = { readonly server: string; readonly prompt: string; readonly args: Readonly<Record<string, string>> }

const listed = (
  { name, from, connect }: ConfiguredServer,
  rest: Omit<ListedServer, 'name' | 'from' | 'connect'>,
): ListedServer => ({ name, from, connect, ...rest })

function describeRunning(one: Running, all: readonly Built[]): ListedServer {
  const { server, connection, offer } = one
  const state = connection.state()
  const own = all.filter((built) => built.one === one)
  const count = offer?.tools.length ?? 0
  return listed(server, {
    state: state.type,
    why: state.type === 'failed' ? state.why : null,
    tools: offer === null ? null : own.flatMap((built) => ('tool' in built ? [built.tool.schema.name] : [])),
    prompts: offer?.prompts.map(({ name }) => name) ?? [],
    problems: [
      ...own.flatMap((built) => ('problem' in built ? [built.problem] : [])),
      ...(count > toolsMax ? [`Only the first ${toolsMax} of its ${count} tools are used.`] : []),
    ],
  })
}

const unknownServer = (name: string) =>
  fault('not_found', `There is no server ${escapeLine(name)} that may be started here. See holdfast mcp list.`, {
    name,
  })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
