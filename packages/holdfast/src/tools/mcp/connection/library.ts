/** The client library of the protocol. Loading it takes a tenth of a second and 37 MB, so it is loaded with the first server. */
export type McpLibrary = typeof import('@modelcontextprotocol/client')

let loading: Promise<McpLibrary> | null = null

export function loadMcpLibrary(): Promise<McpLibrary> {
  loading ??= import('@modelcontextprotocol/client')
  return loading
}
