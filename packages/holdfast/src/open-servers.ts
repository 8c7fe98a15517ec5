import { join } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import { findWorkspaceRoot } from './guidance/workspace-root.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'
import type { Environment, Home } from './system/home.ts'
import { readConfiguration } from './tools/mcp/configured-servers.ts'
import { createKnownOffers } from './tools/mcp/known-offers.ts'
import { createMcpServers, type McpServers } from './tools/mcp/mcp-servers.ts'
import { offerServer } from './tools/mcp/server-offer.ts'
import { createProcessRecords } from './tools/program/process-records.ts'
import { commandEnvironment } from './tools/shell/environment.ts'
import type { FindOffers } from './trust/offer-trust.ts'

export type { ListedServer, McpServers } from './tools/mcp/mcp-servers.ts'
export { addServer, removeServer, type ServerEntry } from './tools/mcp/server-file.ts'

type OpenServers = {
  readonly home: Home
  readonly environment: Environment
  /** Variables that hold a provider's key: no server gets them, unless its configuration names them. */
  readonly keyNames?: readonly string[] | undefined
  readonly onProblem: OnProblem
}

/** Returns the file of the user's own servers. */
export const userServerFile = ({ configDir }: Home): string => join(configDir, 'mcp.json')

/** Returns the servers that the user and workspaces have configured. None is started. */
export function openServers({ home, environment, keyNames, onProblem }: OpenServers): McpServers {
  const trusted = openTrustedWorkspaces(home)
  return createMcpServers({
    environment,
    userFile: userServerFile(home),
    userDir: home.userDir,
    passed: commandEnvironment(environment, { keyNames }),
    records: createProcessRecords(join(home.stateDir, 'shells')),
    findWorkspace: (workdir) => findWorkspaceRoot(workdir, home.userDir),
    async isTrusted(workspace, offer) {
      const judged = await trusted.judge(workspace, [offer])
      return judged.ok && judged.value[0]?.verdict === 'trusted'
    },
    known: createKnownOffers(join(home.dataDir, 'mcp'), onProblem),
  })
}

/** Finds the servers that a workspace offers. */
export const findServers: FindOffers = async ({ workspace }) => {
  const { servers } = await readConfiguration({ userFile: null, workspace })
  return Promise.all(servers.map((server) => offerServer(workspace, server)))
}
