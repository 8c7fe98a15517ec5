import { join } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import { fault, type Result, refuse } from '@holdfast/protocol'
import { findWorkspaceRoot } from '../system/files/workspace-root.ts'
import type { Environment, Home } from '../system/home.ts'
import { readConfiguration } from '../tools/mcp/config/configured-servers.ts'
import type { McpServer } from '../tools/mcp/config/server-config.ts'
import { loadMcpLibrary } from '../tools/mcp/connection/library.ts'
import { createKnownOffers } from '../tools/mcp/known-offers.ts'
import { createMcpServers, type McpServers } from '../tools/mcp/mcp-servers.ts'
import { offerServer } from '../tools/mcp/server-offer.ts'
import { openCallbackServer } from '../tools/mcp/sign-in/callback-server.ts'
import { signIn } from '../tools/mcp/sign-in/sign-in.ts'
import { createSignIns } from '../tools/mcp/sign-in/sign-ins.ts'
import { createProcessRecords } from '../tools/program/process-records.ts'
import { commandEnvironment } from '../tools/shell/environment.ts'
import type { FindOffers } from '../trust/offer-trust.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'

export { convertServers } from '../tools/mcp/config/convert-servers.ts'
export { addServer, removeServer, type ServerEntry } from '../tools/mcp/config/server-file.ts'
export type { ListedServer, McpServers } from '../tools/mcp/mcp-servers.ts'

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
    async areTrusted(workspace, offers) {
      const judged = await trusted.judge(workspace, offers)
      return offers.map((_, index) => judged.ok && judged.value[index]?.verdict === 'trusted')
    },
    credentials: openCredentials(home),
    known: createKnownOffers(join(home.dataDir, 'mcp'), onProblem),
  })
}

/** Returns what people have signed in to on this machine. */
const openCredentials = ({ dataDir }: Home) => createSignIns(join(dataDir, 'mcp-sign-in'))

type SignInTo = {
  readonly home: Home
  readonly server: Pick<McpServer, 'name' | 'connect'>
  /** Shows the page where the person signs in, and returns where they came back to; null if they give up. */
  readonly authorize: (
    page: URL,
    callback: { readonly wait: (signal: AbortSignal) => Promise<URL | null> },
  ) => Promise<URL | null>
  /** Whether a call has found that a sign-in is needed. */
  readonly isWanted?: boolean | undefined
  /** The port of the redirect; a free one by default. */
  readonly port?: number | undefined
}

/** Signs a person in to a server with a URL. Refused: `bad_request`, `mcp_failed`. */
export async function signInTo({
  home,
  server,
  authorize,
  port,
  isWanted = false,
}: SignInTo): Promise<Result<'signed in' | 'not needed'>> {
  const { name, connect } = server
  if (connect.type !== 'http')
    return refuse(fault('bad_request', `${name} is a program, and needs no sign-in.`, { name }))
  const config = connect.oauth ?? {}
  const opened = await openCallbackServer(port ?? config.callbackPort)
  if (!opened.ok) return opened
  const { redirectUrl, wait, close } = opened.value
  try {
    return await signIn({
      library: await loadMcpLibrary(),
      server: name,
      url: connect.url,
      headers: connect.headers,
      config,
      redirectUrl,
      credentials: openCredentials(home),
      isWanted,
      authorize: (page, isExpected) => authorize(page, { wait: (signal) => wait(isExpected, signal) }),
    })
  } finally {
    await close()
  }
}

/** Forgets the sign-in to a server. Returns whether there was one. Refused: `bad_request`. */
export async function signOutOf(
  home: Home,
  { name, connect }: Pick<McpServer, 'name' | 'connect'>,
): Promise<Result<boolean>> {
  if (connect.type !== 'http')
    return refuse(fault('bad_request', `${name} is a program, and has no sign-in.`, { name }))
  return openCredentials(home).remove(connect.url)
}

/** Finds the servers that a workspace offers. */
export const findServers: FindOffers = async ({ workspace }) => {
  const { servers } = await readConfiguration({ userFile: null, workspace })
  return Promise.all(servers.map((server) => offerServer(workspace, server)))
}
