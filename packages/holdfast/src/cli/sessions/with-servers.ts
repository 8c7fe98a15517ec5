import { orThrow } from '@holdfast/protocol/result'
import type { McpServers } from '../../open-servers.ts'
import { reportProblem } from '../connect/connect.ts'
import { resolveWorkspace } from '../connect/workspace.ts'
import type { CliContext } from '../terminal/cli-context.ts'

const workspace = `'\${WORKSPACE}'` // a variable of the configuration, which the shell must not expand
export const serverExample = `holdfast mcp add files -- npx -y @modelcontextprotocol/server-filesystem ${workspace}`

/** Works with the configured MCP servers, and ends those that were started. */
export async function withServers<Value>(
  context: CliContext,
  work: (servers: McpServers) => Promise<Value>,
): Promise<Value> {
  const { home, environment } = context
  const { openServers } = await import('../../open-servers.ts')
  const servers = openServers({ home, environment, onProblem: reportProblem(context) })
  try {
    return await work(servers)
  } finally {
    await servers.close()
  }
}

/** Returns the folder whose servers are meant. */
export const workdirOf = (context: CliContext, flags: { readonly workspace?: string | undefined }): string =>
  orThrow(resolveWorkspace(context, flags.workspace))
