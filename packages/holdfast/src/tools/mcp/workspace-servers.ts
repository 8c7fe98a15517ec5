import type { Offer } from '../../trust/offer.ts'
import { type Configuration, type ConfiguredServer, readConfiguration, stampOf } from './config/configured-servers.ts'
import { offerServer } from './server-offer.ts'
import { createStartableServer, idOf, type StartableDeps, type StartableServer } from './startable-server.ts'

export type WorkspaceDeps = StartableDeps & {
  /** The file of the user's own servers. */
  readonly userFile: string
  readonly findWorkspace: (workdir: string) => Promise<string>
  /** Returns for each of these offers of a workspace whether a person trusts it. */
  readonly areTrusted: (workspace: string, offers: readonly Offer[]) => Promise<readonly boolean[]>
}

/** The servers of a workspace, by whether they may be started. The same object as long as nothing has changed. */
export type WorkspaceServers = {
  readonly workspace: string
  readonly problems: readonly string[]
  readonly off: readonly ConfiguredServer[]
  readonly untrusted: readonly ConfiguredServer[]
  readonly startable: readonly StartableServer[]
}

type Found = { readonly configuration: Configuration; readonly trusted: readonly boolean[] }
type Loaded = Found & { readonly servers: WorkspaceServers }

/** The servers of all folders that sessions of this process work in. */
interface AllServers {
  /** Returns the servers of the workspace of a folder, as it is on disk now. */
  of(workdir: string): Promise<WorkspaceServers>
  /** Aborts when all servers end. */
  readonly closing: AbortSignal
  close(): Promise<void>
}

/** Finds out which servers the folders of sessions have, and ends those whose configuration or trust is gone. */
export function createWorkspaceServers(deps: WorkspaceDeps): AllServers {
  const workspaces = new Map<string, Promise<string>>()
  const configurations = new Map<string, { readonly stamp: string; readonly configuration: Configuration }>()
  const loaded = new Map<string, Loaded>()
  const created = new Map<string, Promise<StartableServer>>()
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

  /** Judges trust each time: a script may have changed, or a person taken it back. */
  async function judge(workspace: string, servers: readonly ConfiguredServer[]): Promise<readonly boolean[]> {
    const theirs = servers.filter(({ from, isOff }) => from === 'workspace' && !isOff)
    if (theirs.length === 0) return servers.map(() => true)
    const offers = await Promise.all(theirs.map((server) => offerServer(workspace, server)))
    const trusted = await deps.areTrusted(workspace, offers)
    const granted = new Set(theirs.filter((_, index) => trusted[index]))
    return servers.map((server) => server.from === 'user' || granted.has(server))
  }

  /** Returns the server of this workspace with this configuration. */
  function find(workspace: string, server: ConfiguredServer): Promise<StartableServer> {
    const id = idOf({ workspace, server })
    const found = created.get(id) ?? createStartableServer(deps, { workspace, server }, closing.signal)
    created.set(id, found) // at once: all sessions share it
    return found
  }

  async function load(workspace: string): Promise<WorkspaceServers> {
    const configuration = await configurationOf(workspace)
    const trusted = await judge(workspace, configuration.servers)
    const before = loaded.get(workspace)
    if (before && isSame(before, { configuration, trusted })) return before.servers
    const { servers, problems } = configuration
    const on = servers.filter(({ isOff }) => !isOff)
    const isTrusted = (server: ConfiguredServer) => trusted[servers.indexOf(server)] === true
    const next: WorkspaceServers = {
      workspace,
      problems,
      off: servers.filter(({ isOff }) => isOff),
      untrusted: on.filter((server) => !isTrusted(server)),
      startable: await Promise.all(on.filter(isTrusted).map((server) => find(workspace, server))),
    }
    loaded.set(workspace, { configuration, trusted, servers: next })
    await endUnused(before?.servers, next)
    return next
  }

  async function endUnused(before: WorkspaceServers | undefined, next: WorkspaceServers): Promise<void> {
    for (const one of before?.startable ?? []) {
      if (next.startable.includes(one)) continue
      created.delete(one.id)
      await one.connection.close()
    }
  }

  return {
    of: async (workdir) => load(await workspaceOf(workdir)),
    closing: closing.signal,
    async close() {
      closing.abort()
      await Promise.all([...created.values()].map(async (one) => (await one).connection.close()))
    },
  }
}

const isSame = (before: Found, now: Found): boolean =>
  before.configuration === now.configuration && before.trusted.every((trusted, index) => trusted === now.trusted[index])
