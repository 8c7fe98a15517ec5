import type { Servers } from '@holdfast/core/ports'
import { fault, ok, refuse } from '@holdfast/protocol'

/** One MCP server, `files`, which is known and can be reached. It has no tools. */
export const fakeServers: Servers = {
  list: async () => [
    {
      name: 'files',
      scope: 'user',
      state: 'known',
      why: null,
      tools: 0,
      target: 'serve files',
      problems: [],
    },
  ],
  retry: async (_, name) =>
    name === 'files' ? ok(null) : refuse(fault('not_found', `There is no server ${name}.`, { name })),
}
