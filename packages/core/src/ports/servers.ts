import type { Result, SessionServer } from '@holdfast/protocol'

/** The MCP servers of folders, for the people who look at a session. */
export interface Servers {
  /** Lists the servers of a folder as they are now. Starts none. */
  list(workdir: string): Promise<readonly Omit<SessionServer, 'isOn'>[]>
  /** Tries again to reach a server, and asks what it offers. Refused: not_found, mcp_failed. */
  retry(workdir: string, name: string): Promise<Result<unknown>>
}
