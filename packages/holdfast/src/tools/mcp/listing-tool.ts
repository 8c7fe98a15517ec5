import type { Tool } from '@holdfast/core/ports'
import { clip, escapeLine, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { untilAborted } from './connection/connection.ts'
import type { StartableServer } from './startable-server.ts'

const aboutCharsMax = 300

/**
 * Creates the tool by which a model starts a server that was never asked what it offers. Its tools are offered from the next
 * step on. Nobody is asked: the user has configured the server, or trusts it.
 */
export function createListingTool(name: string, one: StartableServer): Tool {
  const server = escapeLine(one.server.name)
  const tool = defineTool({
    name,
    description: `Starts the MCP server ${server} and lists its tools, which nobody has asked it for yet. Call it if the server may help with the task; its tools can be called afterwards.`,
    input: z.strictObject({}),
    changes: 'nothing',
    preview: async (args) => ok({ preview: { type: 'arguments', args } }),
    run: whenBegun(async (_args, _context, { signal }) => {
      const asked = await untilAborted(one.ask(), signal)
      if (!asked.ok) return asked
      const { tools, about, hasResources } = asked.value
      const lines = tools.map((each) => escapeLine(`- ${each.name}: ${clip(each.description ?? '', aboutCharsMax)}`))
      return ok({
        text: [
          `The server ${server} has ${tools.length === 1 ? '1 tool' : `${tools.length} tools`}. They can be called from now on.`,
          ...(about === null ? [] : [about]),
          ...(hasResources ? ['It also has resources, which list_mcp_resources lists.'] : []),
          ...lines,
        ].join('\n'),
      })
    }),
  })
  return { ...tool, server: one.server.name }
}
