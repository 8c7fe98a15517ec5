import { createHash } from 'node:crypto'
import type { Servers, Tool } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Offer } from '../../trust/offer.ts'
import { type Configuration, type ConfiguredServer, readConfiguration, stampOf } from './config/configured-servers.ts'
import { expandConnect, hashConnect, type McpServer } from './config/server-config.ts'
import {
  createConnection,
  type McpConnection,
  type Prompt,
  type PromptMessages,
  type ServerTool,
  untilAborted,
} from './connection.ts'
import { readInputSchema } from './input-schema.ts'
import { hashTool, type KnownOffer, type KnownOffers } from './known-offers.ts'
import {
  type BuiltTool,
  describeRunning,
  describeServer,
  type ListedServer,
  type ServerList,
  toolsMax,
  toSessionServer,
} from './listed-server.ts'
import { createMcpTool } from './mcp-tool.ts'
import type { ClientDeps } from './open-client.ts'
import { createResourceTools } from './resource-tools.ts'
import { offerServer } from './server-offer.ts'
import { nameTools } from './tool-names.ts'

type ServersDeps = Omit<ClientDeps, 'cwd' | 'onChanged' | 'onElicit'> & {
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

export type { ListedServer, PromptMessages }

/** How long a step waits for servers that were never asked what they offer. They go on starting meanwhile. */
const firstAnswerMs = 5000
/** A server that failed is asked again what it offers after so long. */
const askAgainMs = 60_000

/** A running or startable server of one workspace. All sessions there share it. */
type Running = {
  /** Its workspace, its name and its configuration. */
  readonly id: string
  readonly key: string
  readonly server: ConfiguredServer
  readonly connection: McpConnection
  offer: KnownOffer | null
  /** Why a person must sign in to it; null if nobody must. */
  signIn: string | null
  /** Why it did not say what it offers when it was last asked; null if it did. */
  failure: string | null
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
    const onSignIn = (why: string | null) => {
      if (one.signIn === why) return
      one.signIn = why
      void deps.known.saveSignIn(key, why)
    }
    const one: Running = {
      ...{
        id,
        key,
        server,
        offer: await deps.known.read(key),
        signIn: await deps.known.readSignIn(key),
        failure: null,
        asking: null,
        askedMs: Number.NEGATIVE_INFINITY,
      },
      connection: createConnection(server, { ...deps, cwd, environment, onChanged: () => void ask(one), onSignIn }),
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
    one.failure = listed.ok ? null : listed.fault.message
    if (!listed.ok) return listed
    one.offer = await deps.known.save(one.key, listed.value)
    return ok(one.offer)
  }

  /** Builds the tools of the servers of a workspace. */
  function toolsOf({ running: servers }: Loaded): readonly BuiltTool<Running>[] {
    const all = servers.flatMap((one) => (one.offer?.tools ?? []).slice(0, toolsMax).map((tool) => ({ one, tool })))
    const names = nameTools(all.map(({ one, tool }) => ({ server: one.server.name, tool: tool.name })))
    return all.map(({ one, tool }, index): BuiltTool<Running> => {
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

  async function list(workdir: string): Promise<ServerList> {
    const place = await placeOf(workdir)
    const built = toolsOf(place)
    const idle = (state: 'off' | 'untrusted') => (server: ConfiguredServer) =>
      describeServer(server, { state, why: null, tools: null, prompts: [], problems: [] })
    return {
      servers: [
        ...place.running.map((one) => describeRunning(one, built)),
        ...place.untrusted.map(idle('untrusted')),
        ...place.off.map(idle('off')),
      ],
      problems: place.problems,
    }
  }

  /** Starts a server, and asks what it offers. Refused: `not_found`, `mcp_failed`. */
  async function test(workdir: string, name: string, signal: AbortSignal): Promise<Result<ListedServer>> {
    const place = await placeOf(workdir)
    const one = place.running.find(({ server }) => server.name === name)
    if (one === undefined) return refuse(unknownServer(name))
    const asked = await untilAborted(ask(one), signal)
    return asked.ok ? ok(describeRunning(one, toolsOf(place))) : asked
  }

  return {
    /** Makes the tools of a workdir known. Starts only servers that were never asked what they offer. */
    async describe(workdir: string): Promise<void> {
      const { running: servers } = await load(await workspaceOf(workdir))
      const due = servers.filter(({ offer, askedMs }) => offer === null && performance.now() - askedMs > askAgainMs)
      if (due.length > 0) await Promise.race([Promise.all(due.map(ask)), pause(firstAnswerMs)])
    },

    /** Returns the tools of the servers of a workdir, as far as they are known. */
    async tools(workdir: string): Promise<readonly Tool[]> {
      const place = await placeOf(workdir)
      const withResources = place.running.filter(({ offer }) => offer?.hasResources)
      return [
        ...toolsOf(place).flatMap((built) => ('tool' in built ? [built.tool] : [])),
        ...createResourceTools(withResources.map(({ server, connection }) => ({ name: server.name, connection }))),
      ]
    },

    /** Returns the prompts of the servers of a workdir, as far as they are known. */
    async prompts(workdir: string): Promise<readonly ServerPrompt[]> {
      const { running: servers } = await placeOf(workdir)
      const all = servers.flatMap(({ offer, server }) =>
        (offer?.prompts ?? []).slice(0, toolsMax).map((prompt) => ({ server, prompt })),
      )
      const names = nameTools(all.map(({ server, prompt }) => ({ server: server.name, tool: prompt.name })))
      return all.map(({ server: { name: server, from, file }, prompt }, index) => ({
        ...{ name: names[index] ?? '', server, from, file, prompt },
      }))
    },

    list,
    test,

    /** Returns a server that may be started here, with the values of its variables. Refused: `not_found`, `bad_config`. */
    async find(workdir: string, name: string): Promise<Result<Pick<McpServer, 'name' | 'connect'>>> {
      const workspace = await workspaceOf(workdir)
      const one = (await load(workspace)).running.find(({ server }) => server.name === name)
      if (one === undefined) return refuse(unknownServer(name))
      const connect = expandConnect(one.server, { ...deps.environment, WORKSPACE: workspace })
      return connect.ok ? ok({ name, connect: connect.value }) : connect
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

    /** The same for the people who look at a session. */
    forSessions: {
      list: async (workdir: string) => (await list(workdir)).servers.map(toSessionServer),
      retry: (workdir: string, name: string) => test(workdir, name, closing.signal),
    } satisfies Servers,

    async close(): Promise<void> {
      closing.abort()
      await Promise.all([...running.values()].map(async (one) => (await one).connection.close()))
    },
  }
}

/** A prompt of a server, with its name for people. */
export type ServerPrompt = Pick<ConfiguredServer, 'from' | 'file'> & {
  readonly name: string
  readonly server: string
  readonly prompt: Prompt
}

type PromptCall = { readonly server: string; readonly prompt: string; readonly args: Readonly<Record<string, string>> }

const unknownServer = (name: string) =>
  fault('not_found', `There is no server ${escapeLine(name)} that may be started here. See holdfast mcp list.`, {
    name,
  })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
